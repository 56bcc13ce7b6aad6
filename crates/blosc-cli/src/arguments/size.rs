//! Sizes as people write them: 512K, 4M, 1.5G.

use std::path::Path;

/// Reads a size in bytes; `K`, `M`, `G` and `T` are powers of 1024, and a `B` or `iB` after them
/// changes nothing.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let number = upper.trim_end_matches('B').trim_end_matches('I');
    let (digits, shift) = match number.char_indices().last() {
        Some((at, 'K')) => (&number[..at], 10),
        Some((at, 'M')) => (&number[..at], 20),
        Some((at, 'G')) => (&number[..at], 30),
        Some((at, 'T')) => (&number[..at], 40),
        _ => (number, 0),
    };
    let wrong = || format!("{text:?} is no size: a number with K, M or G, such as 512K");
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(1 << shift).ok_or_else(wrong);
    }
    let (whole, fraction) = digits.split_once('.').ok_or_else(wrong)?;
    let thousandths = format!("{fraction:0<3}").get(..3).and_then(|three| three.parse::<u64>().ok());
    let (whole, thousandths) = whole.parse::<u64>().ok().zip(thousandths).ok_or_else(wrong)?;
    let scaled = whole.checked_mul(1000).and_then(|whole| whole.checked_add(thousandths)).ok_or_else(wrong)?;
    scaled.checked_mul(1 << shift).map(|bytes| bytes / 1000).ok_or_else(wrong)
}

/// The same for what must fit into memory.
pub(crate) fn parse_memory(text: &str) -> Result<usize, String> {
    let bytes = parse(text)?;
    usize::try_from(bytes).map_err(|_| format!("{text:?} is more than this machine can address"))
}

/// A size for people to read: up to four digits and a unit.
pub(crate) fn display(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // Exact enough: people read three digits of it.
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// How many bytes a file has, or all files of a directory; 0 if that cannot be told.
pub(crate) fn of_path(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return path.metadata().map_or(0, |metadata| metadata.len()) };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::{display, parse};

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let cases =
            [("0", 0), ("512", 512), ("512K", 512 << 10), ("4M", 4 << 20), ("4MiB", 4 << 20), ("1.5g", 3 << 29)];
        for (text, bytes) in cases {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "4X", "-1", "1.2.3", "99999999999G"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_shown_with_three_digits() {
        let cases = [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (123_456, "121 KiB"), (5 << 30, "5.00 GiB")];
        for (bytes, text) in cases {
            assert_eq!(display(bytes), text);
        }
    }
}
