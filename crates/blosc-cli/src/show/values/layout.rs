//! Items in rows and brackets, as NumPy lays them out: lines of 75 characters, and of more than a
//! thousand items only those at the edges.

/// How wide a line may be.
const WIDTH: usize = 75;
const DOTS: &str = "...";

/// An array of texts.
struct Layout<'a> {
    texts: &'a [String],
    /// How many items are shown along each axis.
    shown: &'a [usize],
    /// After how many of them dots stand for the rest.
    dots: &'a [Option<usize>],
}

/// The texts of an array of the shape `shown`; `dots` says behind which item of an axis some are
/// left out.
pub(crate) fn printed(texts: &[String], shown: &[usize], dots: &[Option<usize>]) -> String {
    if shown.contains(&0) {
        return "[]".to_owned();
    }
    Layout { texts, shown, dots }.nested(0, 0, " ", WIDTH)
}

impl Layout<'_> {
    /// The part of the array with `at` items before it, from `axis` on.
    fn nested(&self, axis: usize, at: usize, indent: &str, width: usize) -> String {
        let Some(&count) = self.shown.get(axis) else { return self.texts.get(at).cloned().unwrap_or_default() };
        let (inner, is_last) = (format!("{indent} "), axis + 1 == self.shown.len());
        let step: usize = self.shown[axis + 1..].iter().product();
        let mut words = Vec::new();
        for index in 0..count {
            if self.dots[axis] == Some(index) {
                words.push(DOTS.to_owned());
            }
            words.push(self.nested(axis + 1, at + index * step, &inner, width - 1));
        }
        let text = if is_last {
            row(&words, indent, width)
        } else {
            words.join(&format!("{}{indent}", "\n".repeat(self.shown.len() - axis - 1)))
        };
        format!("[{text}]")
    }
}

/// Words on as many lines as they need.
fn row(words: &[String], indent: &str, width: usize) -> String {
    let mut done = String::new();
    let mut line = String::new();
    for (index, word) in words.iter().enumerate() {
        let len = indent.len() + line.chars().count() + word.chars().count();
        if !line.is_empty() && len > width - 1 {
            done.push_str(line.trim_end());
            done.push('\n');
            done.push_str(indent);
            line.clear();
        }
        line.push_str(word);
        if index + 1 < words.len() {
            line.push(' ');
        }
    }
    done + &line
}

#[cfg(test)]
mod tests {
    use super::printed;

    #[test]
    fn rows_stand_below_each_other() {
        let texts: Vec<String> = (0..6).map(|i| i.to_string()).collect();
        assert_eq!(printed(&texts, &[6], &[None]), "[0 1 2 3 4 5]");
        assert_eq!(printed(&texts, &[2, 3], &[None, None]), "[[0 1 2]\n [3 4 5]]");
        assert_eq!(printed(&texts, &[1, 2, 3], &[None, None, Some(2)]), "[[[0 1 ... 2]\n  [3 4 ... 5]]]");
        assert_eq!(
            printed(&texts, &[3, 2, 1], &[None, None, None]),
            "[[[0]\n  [1]]\n\n [[2]\n  [3]]\n\n [[4]\n  [5]]]"
        );
        assert_eq!(printed(&texts, &[2, 0], &[None, None]), "[]");
        let long: Vec<String> = (0..40).map(|_| "12".to_owned()).collect();
        assert_eq!(printed(&long, &[40], &[None]).lines().next().unwrap().len(), 72);
    }
}
