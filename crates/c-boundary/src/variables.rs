//! Environment variables, as C programs set them.

use std::os::unix::ffi::OsStringExt;

/// The bytes of a variable, if it is set.
#[must_use]
pub fn text(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(OsStringExt::into_vec)
}

/// The number that a variable begins with, if it is set; 0 if it begins with none.
#[must_use]
pub fn number(name: &str) -> Option<i32> {
    text(name).map(|text| leading_number(&text))
}

/// The number that a variable begins with, if it is greater than 0.
#[must_use]
pub fn positive(name: &str) -> Option<i32> {
    number(name).filter(|&number| number > 0)
}

/// The number that a text begins with, as `strtol` finds it: 0 if there is none.
fn leading_number(text: &[u8]) -> i32 {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0B';
    let text = &text[text.iter().take_while(|byte| is_space(byte)).count()..];
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let digits = digits.iter().take_while(|digit| digit.is_ascii_digit());
    let number = digits.fold(0_i32, |number, digit| number.saturating_mul(10).saturating_add((digit - b'0').into()));
    if is_negative { -number } else { number }
}
