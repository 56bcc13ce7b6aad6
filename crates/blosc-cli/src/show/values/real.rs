//! Numbers with a fraction, as NumPy prints them: the fewest digits that tell a number from its
//! neighbours, up to eight behind the point, and all of a kind.

/// Digits behind the point.
const PRECISION: usize = 8;

/// A number of 2, 4 or 8 bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Real {
    Half(f32),
    Single(f32),
    Double(f64),
}

impl Real {
    /// The number of these bytes, the lowest first.
    pub(super) fn of(little: &[u8]) -> Self {
        match *little {
            [a, b] => Self::Half(half(u16::from_le_bytes([a, b]))),
            [a, b, c, d] => Self::Single(f32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => Self::Double(f64::from_le_bytes([a, b, c, d, e, f, g, h])),
            _ => Self::Double(f64::NAN),
        }
    }

    fn value(self) -> f64 {
        match self {
            Self::Half(value) | Self::Single(value) => value.into(),
            Self::Double(value) => value,
        }
    }

    /// The fewest digits that give the number back, as Rust writes them: `1.25e-3`.
    fn shortest(self) -> String {
        match self {
            Self::Half(value) => {
                let digits = (0..5).map(|digits| format!("{value:.digits$e}"));
                let is_right = |text: &String| text.parse::<f32>().is_ok_and(|read| nearest_half(read) == value);
                digits.into_iter().find(is_right).unwrap_or_else(|| format!("{value:e}"))
            }
            Self::Single(value) => format!("{value:e}"),
            Self::Double(value) => format!("{value:e}"),
        }
    }

    /// How many digits are behind the point, written without an exponent.
    fn fraction_digits(self) -> usize {
        let text = self.shortest();
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let behind = digits.split_once('.').map_or(0, |(_, behind)| behind.trim_end_matches('0').len());
        let exponent: i64 = exponent.parse().unwrap_or_default();
        usize::try_from(i64::try_from(behind).unwrap_or_default() - exponent).unwrap_or_default()
    }

    fn positional(self) -> String {
        let digits = self.fraction_digits().min(PRECISION);
        let text = match self {
            Self::Half(value) | Self::Single(value) => format!("{value:.digits$}"),
            Self::Double(value) => format!("{value:.digits$}"),
        };
        let text = if text.contains('.') { text.trim_end_matches('0').to_owned() } else { text };
        if text.contains('.') { text } else { text + "." }
    }

    fn scientific(self, digits: usize, exponent_digits: usize) -> String {
        let text = match self {
            Self::Half(value) | Self::Single(value) => format!("{value:.digits$e}"),
            Self::Double(value) => format!("{value:.digits$e}"),
        };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if mantissa.contains('.') { "" } else { "." };
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        format!("{mantissa}{point}e{sign}{exponent:0>exponent_digits$}")
    }

    fn exponent_digits(self) -> usize {
        let text = self.shortest();
        text.split_once('e').map_or(0, |(_, exponent)| exponent.trim_start_matches('-').len())
    }

    fn mantissa_digits(self) -> usize {
        let text = self.shortest();
        let mantissa = text.split_once('e').map_or(text.as_str(), |(mantissa, _)| mantissa);
        mantissa.split_once('.').map_or(0, |(_, behind)| behind.trim_end_matches('0').len()).min(PRECISION)
    }
}

/// How numbers that are printed together are written.
pub(super) struct Reals {
    is_signed: bool,
    /// The digits of a mantissa and of exponents, if there are exponents.
    mantissa: Option<(usize, usize)>,
    left: usize,
    right: usize,
}

impl Reals {
    pub(super) fn of(reals: &[Real], is_signed: bool) -> Self {
        let finite: Vec<Real> = reals.iter().copied().filter(|real| real.value().is_finite()).collect();
        let sizes = finite.iter().map(|real| real.value().abs()).filter(|&size| size > 0.0);
        let (largest, smallest) =
            sizes.fold((0.0_f64, f64::INFINITY), |(largest, smallest), size| (largest.max(size), smallest.min(size)));
        let has_exponents = largest >= 1e8 || largest > 0.0 && (smallest < 1e-4 || largest / smallest > 1000.0);
        let digits = finite.iter().map(|real| real.mantissa_digits()).max().unwrap_or_default();
        let exponent = finite.iter().map(|real| real.exponent_digits()).max().unwrap_or_default().max(2);
        let mut form = Self { is_signed, mantissa: has_exponents.then_some((digits, exponent)), left: 0, right: 0 };
        for real in finite {
            let text = form.bare(real);
            let (left, right) = text.split_once('.').unwrap_or((&text, ""));
            form.left = form.left.max(left.len());
            form.right = form.right.max(right.len());
        }
        let others = reals.iter().filter(|real| !real.value().is_finite()).map(|&real| form.bare(real).len());
        form.left = form.left.max(others.max().unwrap_or_default().saturating_sub(form.right + 1));
        form
    }

    pub(super) fn text(&self, real: &Real) -> String {
        let bare = self.bare(*real);
        match bare.split_once('.') {
            Some((left, right)) => format!("{left:>0$}.{right:<1$}", self.left, self.right),
            None => format!("{bare:>0$}", self.left + self.right + 1),
        }
    }

    fn bare(&self, real: Real) -> String {
        let value = real.value();
        let text = match self.mantissa {
            _ if value.is_nan() => return if self.is_signed { "+nan" } else { "nan" }.to_owned(),
            _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
            Some((digits, exponent)) => real.scientific(digits, exponent),
            None => real.positional(),
        };
        if self.is_signed && !text.starts_with('-') { format!("+{text}") } else { text }
    }
}

/// A number of two bytes.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    };
    if sign == 0 { size } else { -size }
}

/// The number of two bytes that is nearest, of the two neighbours with an even fraction.
fn nearest_half(value: f32) -> f32 {
    let size = value.abs();
    if !size.is_finite() || size == 0.0 {
        return value;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a float is small")]
    let exponent = (size.log2().floor() as i32).max(-14);
    let step = 2_f32.powi(exponent - 10);
    ((size / step).round_ties_even() * step).copysign(value)
}

#[cfg(test)]
mod tests {
    use super::{Real, Reals};

    fn printed(values: &[f64]) -> Vec<String> {
        let reals: Vec<Real> = values.iter().map(|&value| Real::Double(value)).collect();
        let form = Reals::of(&reals, false);
        reals.iter().map(|real| form.text(real)).collect()
    }

    /// What NumPy 2 prints.
    #[test]
    fn numbers_are_printed_as_numpy_does() {
        assert_eq!(printed(&[1.0, 2.5, -3.25]), [" 1.  ", " 2.5 ", "-3.25"]);
        assert_eq!(printed(&[0.1, 1.0 / 3.0]), ["0.1       ", "0.33333333"]);
        assert_eq!(printed(&[1e-5, 1.5e10]), ["1.0e-05", "1.5e+10"]);
        assert_eq!(printed(&[f64::NAN, 1.0, f64::INFINITY]), ["nan", " 1.", "inf"]);
        assert_eq!(printed(&[0.0, 0.0]), ["0.", "0."]);
        let halves: Vec<Real> = [0x2e66_u16, 0x3c00].iter().map(|bits| Real::of(&bits.to_le_bytes())).collect();
        let form = Reals::of(&halves, false);
        assert_eq!(halves.iter().map(|half| form.text(half)).collect::<Vec<_>>(), ["0.1", "1. "]);
        let singles = [Real::Single(0.1), Real::Single(16_777_216.0)];
        assert_eq!(Reals::of(&singles, false).text(&singles[1]), "1.6777216e+07");
    }
}
