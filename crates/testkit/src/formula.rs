//! The data formulas of the golden manifests: plain bytes made from a few numbers.

use crate::Rng;
use serde_json::Value;

const WORDS: [&str; 16] = [
    "alpha", "bravo", "chunk", "delta", "echo", "frame", "golf", "hotel", "index", "julia", "kilo", "lima", "meta",
    "nd", "offset", "papa",
];

/// The bytes that `spec` describes; a list of specs is their concatenation.
///
/// `None` for what is no formula: null, a sentence, and the kinds `special` and `inline`, whose
/// content the entry describes in words.
///
/// # Panics
/// When a formula lacks a parameter that it needs: the manifests are trusted.
#[must_use]
pub fn generate(spec: &Value) -> Option<Vec<u8>> {
    match spec {
        Value::Array(parts) => parts.iter().map(generate).collect::<Option<Vec<_>>>().map(|parts| parts.concat()),
        Value::Object(_) => Spec(spec).generate(),
        _ => None,
    }
}

struct Spec<'a>(&'a Value);

impl Spec<'_> {
    fn generate(&self) -> Option<Vec<u8>> {
        let mut bytes = match self.0["kind"].as_str()? {
            "zeros" => vec![0; self.nbytes()],
            "const" => vec![self.int("a", 0).to_le_bytes()[0]; self.nbytes()],
            "rand" => self.rand(),
            "ramp" => self.ramp(),
            "lowent" => self.lowent(),
            "walk" => self.walk(),
            "framp" => self.framp(),
            "fnoise" => self.fnoise(),
            "fgrid" => self.fgrid(),
            "text" => self.text(),
            "record" => self.record(),
            "special" | "inline" => return None,
            other => panic!("no formula is called {other:?}"),
        };
        bytes.truncate(self.nbytes());
        Some(bytes)
    }

    fn rand(&self) -> Vec<u8> {
        let mut rng = self.rng();
        (0..self.nbytes().div_ceil(8)).flat_map(|_| rng.next_u64().to_le_bytes()).collect()
    }

    fn ramp(&self) -> Vec<u8> {
        let (start, step) = (self.int("a", 0), self.int("b", 1));
        self.integers(|i| start.wrapping_add(step.wrapping_mul(i)))
    }

    fn lowent(&self) -> Vec<u8> {
        let (mut rng, modulus) = (self.rng(), self.int("m", 17));
        self.integers(|_| rng.next_u64() % modulus)
    }

    fn walk(&self) -> Vec<u8> {
        let (mut rng, mut position) = (self.rng(), self.int("a", 1000));
        self.integers(|i| {
            let step = (rng.next_u64() >> 61).wrapping_sub(3);
            if i > 0 {
                position = position.wrapping_add(step);
            }
            position
        })
    }

    fn framp(&self) -> Vec<u8> {
        let (start, step) = (self.float("a", 0.0), self.float("b", 0.5));
        self.floats(|i| start + step * exact_f64(i))
    }

    fn fnoise(&self) -> Vec<u8> {
        let mut rng = self.rng();
        let (start, step) = (self.float("a", 0.0), self.float("b", 0.001));
        let scale = self.float("c", 2f64.powi(-24));
        self.floats(|i| (start + step * exact_f64(i)) + exact_f64(rng.next_u64() >> 40) * scale)
    }

    fn fgrid(&self) -> Vec<u8> {
        let (a, b, c) = (self.float("a", 0.0), self.float("b", 0.0), self.float("c", 0.0));
        let cols = self.int("cols", 1);
        self.floats(|i| {
            let (y, x) = (exact_f64(i / cols), exact_f64(i % cols));
            (a * (y * y) + b * (x * y)) + c * x
        })
    }

    fn text(&self) -> Vec<u8> {
        let (mut rng, nbytes) = (self.rng(), self.nbytes());
        let mut text = String::with_capacity(nbytes + 8);
        while text.len() < nbytes {
            text.push_str(WORDS[rng.below(WORDS.len())]);
            text.push(' ');
        }
        text.into_bytes()
    }

    fn record(&self) -> Vec<u8> {
        let (mut rng, seed, width) = (self.rng(), self.int("seed", 0), self.width() as u64);
        let mut bytes = Vec::with_capacity(self.count() * self.width());
        for i in 0..self.count() as u64 {
            let noise = rng.next_u64();
            bytes.extend((0..width).map(|j| {
                let bit = (noise >> (8 * (j & 7))) & 1;
                (i >> (j & 7)).wrapping_add(j.wrapping_mul(seed)).wrapping_add(bit).to_le_bytes()[0]
            }));
        }
        bytes
    }

    /// `count` integers in the low `width` bytes each.
    fn integers(&self, mut element: impl FnMut(u64) -> u64) -> Vec<u8> {
        let width = self.width();
        assert!(width <= 8, "an integer of {width} bytes in {}", self.0);
        (0..self.count() as u64).flat_map(|i| element(i).to_le_bytes().into_iter().take(width)).collect()
    }

    /// `count` floats, computed in f64 and stored in `width` bytes.
    fn floats(&self, mut element: impl FnMut(u64) -> f64) -> Vec<u8> {
        let indices = 0..self.count() as u64;
        match self.width() {
            #[expect(clippy::cast_possible_truncation, reason = "the formulas are rounded to f32 here")]
            4 => indices.flat_map(|i| (element(i) as f32).to_le_bytes()).collect(),
            8 => indices.flat_map(|i| element(i).to_le_bytes()).collect(),
            width => panic!("a float of {width} bytes in {}", self.0),
        }
    }

    fn rng(&self) -> Rng {
        Rng::new(self.int("seed", 0))
    }

    fn width(&self) -> usize {
        self.size("w").unwrap_or(1)
    }

    fn count(&self) -> usize {
        let grid = || Some(self.size("rows")? * self.size("cols")?);
        self.size("n").or_else(grid).unwrap_or_else(|| self.nbytes().div_ceil(self.width()))
    }

    fn nbytes(&self) -> usize {
        self.size("nbytes").unwrap_or_else(|| {
            self.size("n").unwrap_or_else(|| panic!("neither n nor nbytes in {}", self.0)) * self.width()
        })
    }

    fn size(&self, name: &str) -> Option<usize> {
        self.0[name].as_u64().map(|size| usize::try_from(size).expect("sizes of the golden set fit in memory"))
    }

    /// A whole number modulo 2^64, so that negative ones wrap as the formulas say.
    fn int(&self, name: &str, default: u64) -> u64 {
        let value = &self.0[name];
        value.as_u64().or_else(|| value.as_i64().map(i64::cast_unsigned)).unwrap_or(default)
    }

    fn float(&self, name: &str, default: f64) -> f64 {
        self.0[name].as_f64().unwrap_or(default)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and 24-bit noise are below 2^53")]
fn exact_f64(value: u64) -> f64 {
    debug_assert!(value < 1 << 53);
    value as f64
}

#[cfg(test)]
mod tests {
    use super::generate;
    use serde_json::json;

    #[test]
    fn an_integer_element_keeps_its_low_bytes() {
        let spec = json!({"kind": "ramp", "n": 3, "w": 2, "a": -1, "b": 1});
        assert_eq!(generate(&spec).unwrap(), [0xff, 0xff, 0, 0, 1, 0]);
    }

    #[test]
    fn a_byte_length_that_is_no_multiple_of_the_width_is_cut() {
        let spec = json!({"kind": "ramp", "nbytes": 5, "w": 4, "a": 258});
        assert_eq!(generate(&spec).unwrap(), [2, 1, 0, 0, 3]);
    }

    #[test]
    fn a_list_is_the_concatenation_of_its_parts() {
        let spec = json!([{"kind": "zeros", "nbytes": 2}, {"kind": "const", "a": 7, "nbytes": 1}]);
        assert_eq!(generate(&spec).unwrap(), [0, 0, 7]);
    }

    #[test]
    fn what_is_no_formula_gives_nothing() {
        assert_eq!(generate(&json!(null)), None);
        assert_eq!(generate(&json!("see note")), None);
        assert_eq!(generate(&json!({"kind": "special", "nbytes": 4})), None);
        assert_eq!(generate(&json!([{"kind": "zeros", "nbytes": 2}, {"kind": "inline"}])), None);
    }
}
