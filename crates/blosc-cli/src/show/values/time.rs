//! Dates as NumPy prints them.

/// What NumPy has for no time at all.
const NOT_A_TIME: i128 = i64::MIN as i128;

/// So many `unit` after the start of 1970, such as `ns` or `25s`.
pub(super) fn datetime(count: i128, unit: &str) -> String {
    if count == NOT_A_TIME {
        return "'NaT'".to_owned();
    }
    let digits = unit.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = count * unit[..unit.len() - digits.len()].parse::<i128>().unwrap_or(1);
    let (per_second, decimals) = match digits {
        "ms" => (1_000, 3),
        "us" => (1_000_000, 6),
        "ns" => (1_000_000_000, 9),
        "ps" => (1_000_000_000_000, 12),
        "fs" => (1_000_000_000_000_000, 15),
        "as" => (1_000_000_000_000_000_000, 18),
        _ => (1, 0),
    };
    let text = match digits {
        "Y" => format!("{:04}", 1970 + count),
        "M" => format!("{:04}-{:02}", 1970 + count.div_euclid(12), count.rem_euclid(12) + 1),
        "W" => date(count * 7),
        "D" => date(count),
        "h" => format!("{}T{:02}", date(count.div_euclid(24)), count.rem_euclid(24)),
        "m" => {
            let minute = count.rem_euclid(1440);
            format!("{}T{:02}:{:02}", date(count.div_euclid(1440)), minute / 60, minute % 60)
        }
        _ => {
            let (seconds, rest) = (count.div_euclid(per_second), count.rem_euclid(per_second));
            let second = seconds.rem_euclid(86_400);
            let fraction = if decimals > 0 { format!(".{rest:0decimals$}") } else { String::new() };
            let (hour, minute) = (second / 3600, second / 60 % 60);
            format!("{}T{hour:02}:{minute:02}:{:02}{fraction}", date(seconds.div_euclid(86_400)), second % 60)
        }
    };
    format!("'{text}'")
}

pub(super) fn timedelta(count: i128) -> String {
    if count == NOT_A_TIME { "'NaT'".to_owned() } else { count.to_string() }
}

/// The day that is so many after the first of 1970, in the calendar of Gregory. Years start in
/// March here, so that the day that not all of them have is the last.
fn date(days: i128) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::datetime;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(datetime(0, "D"), "'1970-01-01'");
        assert_eq!(datetime(11_016, "D"), "'2000-02-29'");
        assert_eq!(datetime(-1, "s"), "'1969-12-31T23:59:59'");
        assert_eq!(datetime(1_500_000_000_123_456_789, "ns"), "'2017-07-14T02:40:00.123456789'");
        assert_eq!(datetime(601, "M"), "'2020-02'");
        assert_eq!(datetime(i128::from(i64::MIN), "ns"), "'NaT'");
    }
}
