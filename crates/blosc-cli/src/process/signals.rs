//! Signals: those that end the program are given time to clean up, and a file size limit is an
//! error like others.

/// The exit code of a program that Ctrl-C has ended, as shells have it.
pub(crate) const INTERRUPTED: i32 = 130;

/// Makes a write beyond the limit of `ulimit -f` fail with `EFBIG`. By default SIGXFSZ kills the
/// program, which would then leave its temporary files behind.
pub(crate) fn survive_size_limit() {
    #[cfg(unix)]
    {
        // That the signal is caught is all that is needed. Where that fails, the limit kills, as it
        // does by default.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    }
}

/// Calls `clean_up` when one of the signals HUP, INT or TERM is to end the program, or Ctrl-C on
/// Windows.
///
/// Without it an interrupted run leaves temporary files behind; that is no reason not to run, so
/// that failures are ignored.
pub(crate) fn before_end(clean_up: fn()) {
    #[cfg(unix)]
    {
        let Ok(mut signals) = signal_hook::iterator::Signals::new(unix::to_catch()) else { return };
        std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                clean_up();
            }
        });
    }
    #[cfg(not(unix))]
    {
        let _ = ctrlc::try_set_handler(clean_up);
    }
}

#[cfg(unix)]
mod unix {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    /// The signals that end the program, but for those that it was started to ignore: by `nohup`,
    /// or as a background job of a script. Each of them counts by itself.
    pub(crate) fn to_catch() -> Vec<i32> {
        match std::fs::read_to_string("/proc/self/status").ok().as_deref().and_then(ignored) {
            Some(ignored) => {
                [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
            }
            // Only Linux tells without unsafe code. Elsewhere a program under `nohup` must survive
            // its terminal.
            None => vec![SIGINT, SIGTERM],
        }
    }

    /// The set of ignored signals that the text of /proc/self/status names, a bit for each.
    fn ignored(status: &str) -> Option<u64> {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    }

    #[cfg(test)]
    mod tests {
        use super::ignored;

        #[test]
        fn ignored_signals_are_found() {
            let status =
                "Name:\tblosc\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001003\nSigCgt:\t0000000000000440\n";
            assert_eq!(ignored(status), Some(0x1003));
            assert_eq!(ignored("Name:\tblosc\n"), None);
        }
    }
}
