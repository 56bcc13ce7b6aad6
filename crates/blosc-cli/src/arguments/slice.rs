//! Parts of arrays, as Python writes them: `0:10,5,::2`, `...,0`.

use crate::failure::{Failure, Outcome};
use blosc_oxide::AxisSelection;

/// What is taken along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) start: u64,
    pub(crate) step: i64,
    pub(crate) count: u64,
    /// Whether it is one index, whose axis is gone in the result.
    pub(crate) is_index: bool,
}

impl Taken {
    /// The index of the `at`-th that is taken.
    pub(crate) fn index(&self, at: u64) -> u64 {
        self.start.wrapping_add_signed(self.step.wrapping_mul(at.cast_signed()))
    }

    /// The same for the library.
    pub(crate) fn selection(&self) -> AxisSelection {
        if self.is_index {
            return AxisSelection::Index(self.start);
        }
        if self.count == 0 {
            return AxisSelection::slice(0, 0, 1);
        }
        let last = self.index(self.count - 1);
        let end = if self.step > 0 { Some(last + 1) } else { last.checked_sub(1) };
        AxisSelection::slice(self.start, end, self.step)
    }
}

/// Reads a slice for an array of this shape. Axes that are not named are taken whole.
pub(crate) fn parse(text: &str, shape: &[u64]) -> Outcome<Vec<Taken>> {
    let bare = text.trim().trim_start_matches('[').trim_end_matches(']');
    let mut parts: Vec<&str> = if bare.is_empty() { Vec::new() } else { bare.split(',').map(str::trim).collect() };
    let dots: Vec<usize> = (0..parts.len()).filter(|&at| parts[at] == "...").collect();
    let named = parts.len() - dots.len();
    if named > shape.len() {
        return Err(wrong(text, &format!("it has {named} axes, the array has {}", shape.len())));
    }
    match dots[..] {
        [] => parts.resize(shape.len(), ":"),
        [at] => drop(parts.splice(at..=at, std::iter::repeat_n(":", shape.len() - named))),
        _ => return Err(wrong(text, "`...` can stand in it once")),
    }
    parts.iter().zip(shape).enumerate().map(|(axis, (part, &length))| taken(text, axis, part, length)).collect()
}

fn wrong(text: &str, why: &str) -> Failure {
    Failure::usage(format!("--slice {text}: {why}"))
}

/// One part of a slice, as Python reads it: a negative index counts from the end, and ends may lie
/// outside.
fn taken(text: &str, axis: usize, part: &str, length: u64) -> Outcome<Taken> {
    let no_slice = || wrong(text, &format!("{part:?} is no index or range; write 5, 0:10, ::2 or ..."));
    let number = |text: &str| text.trim().parse::<i128>().map_err(|_| no_slice());
    let ends: Vec<&str> = part.split(':').collect();
    if let [index] = ends[..] {
        let index = number(index)?;
        let from_start = from_end(index, length);
        let start = u64::try_from(from_start).ok().filter(|&start| start < length);
        let outside = || match length {
            0 => wrong(text, &format!("axis {axis} has no items")),
            _ => wrong(
                text,
                &format!("index {index} is out of range: axis {axis} has {length} items, 0 to {}", length - 1),
            ),
        };
        return Ok(Taken { start: start.ok_or_else(outside)?, step: 1, count: 1, is_index: true });
    }
    let (start, end, step) = match ends[..] {
        [start, end] => (start, end, ""),
        [start, end, step] => (start, end, step),
        _ => return Err(no_slice()),
    };
    let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { number(text).map(Some) };
    let step = bound(step)?.unwrap_or(1);
    if step == 0 {
        return Err(wrong(text, &format!("the step of {part:?} is 0")));
    }
    let step = i64::try_from(step).map_err(|_| no_slice())?;
    let bound = |text: &str| Ok::<_, Failure>(bound(text)?.map(|index| from_end(index, length)));
    Ok(steps(bound(start)?, bound(end)?, step, i128::from(length)))
}

fn from_end(index: i128, length: u64) -> i128 {
    if index < 0 { index.saturating_add(length.into()) } else { index }
}

fn steps(start: Option<i128>, end: Option<i128>, step: i64, length: i128) -> Taken {
    let (start, span) = if step > 0 {
        let start = start.unwrap_or(0).clamp(0, length);
        (start, end.unwrap_or(length).clamp(start, length) - start)
    } else {
        let start = start.unwrap_or(length - 1).clamp(-1, length - 1);
        (start, start - end.unwrap_or(-1).clamp(-1, start))
    };
    let stride = i128::from(step.unsigned_abs());
    let unsigned = |number: i128| u64::try_from(number).unwrap_or(0);
    Taken { start: unsigned(start), step, count: unsigned((span + stride - 1) / stride), is_index: false }
}

#[cfg(test)]
mod tests {
    use super::{parse, wrong};
    use blosc_oxide::AxisSelection;

    #[test]
    fn slices_are_read_as_python_does() {
        let cases = [
            ("5", AxisSelection::Index(5)),
            ("-1", AxisSelection::Index(9)),
            ("0:10", AxisSelection::slice(0, 10, 1)),
            ("2:", AxisSelection::slice(2, 10, 1)),
            (":-3", AxisSelection::slice(0, 7, 1)),
            ("::2", AxisSelection::slice(0, 9, 2)),
            ("::-1", AxisSelection::slice(9, None, -1)),
            ("7:2:-2", AxisSelection::slice(7, 2, -2)),
            ("3:100", AxisSelection::slice(3, 10, 1)),
            ("8:2", AxisSelection::slice(0, 0, 1)),
            ("...", AxisSelection::slice(0, 10, 1)),
        ];
        for (text, selection) in cases {
            assert_eq!(parse(text, &[10]).unwrap()[0].selection(), selection, "{text}");
        }
        let of = |text: &str| parse(text, &[10, 20, 30]).unwrap().iter().map(|taken| taken.count).collect::<Vec<_>>();
        assert_eq!(of("1"), [1, 20, 30]);
        assert_eq!(of("...,0"), [10, 20, 1]);
        assert_eq!(of("0,...,::7"), [1, 20, 5]);
        assert_eq!(of("[2:4, ..., 0]"), [2, 20, 1]);
        for text in ["10", "x", "1:2:0", "1,2", "1:2:3:4", "...,..."] {
            assert!(parse(text, &[10]).is_err(), "{text}");
        }
        assert!(format!("{:?}", parse("10", &[10]).unwrap_err()).contains("out of range: axis 0 has 10 items, 0 to 9"));
        assert!(format!("{:?}", wrong("a", "b")).contains("--slice a: b"));
    }
}
