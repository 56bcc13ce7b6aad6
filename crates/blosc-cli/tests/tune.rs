//! `blosc tune` finds settings for the user's data, and its page has a plot: it is opened in a
//! browser.

mod common;

use common::{BLOSC, Scratch, assert_fails, npy, ramp};
use std::path::PathBuf;
use std::process::{Command, Output};

fn tune(scratch: &Scratch, arguments: &[&str]) -> Output {
    Command::new(BLOSC).arg("tune").args(arguments).current_dir(&scratch.0).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The command lines that it prints, without the words before them.
fn command_lines(text: &str) -> Vec<String> {
    let best = text.lines().filter(|line| line.starts_with("best for "));
    best.map(|line| line.split_once("blosc ").unwrap().1.to_owned()).collect()
}

#[test]
fn the_command_lines_that_are_printed_work() {
    let scratch = Scratch::new();
    scratch.write("cube.npy", &npy("<i4", "(40, 30, 25)", &ramp(30_000)));
    let text = text(&tune(&scratch, &["cube.npy", "--all"]));
    for word in
        ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "shuffle", "bitshuffle", "32.0 KiB", "ratio", "items of 4 bytes"]
    {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
    let lines = command_lines(&text);
    assert_eq!(lines.len(), 3, "{text}");
    for line in lines {
        let output = Command::new(BLOSC).args(line.split(' ')).arg("--force").current_dir(&scratch.0).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let back =
            Command::new(BLOSC).args(["d", "cube.npy.b2nd", "-", "--npy"]).current_dir(&scratch.0).output().unwrap();
        assert!(back.stdout == std::fs::read(scratch.join("cube.npy")).unwrap(), "{line}");
    }
}

#[test]
fn compressed_files_are_tuned_by_their_data() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(20_000));
    let packed = Command::new(BLOSC).args(["c", "data.bin", "-t4"]).current_dir(&scratch.0).status().unwrap();
    assert!(packed.success());
    let text = text(&tune(&scratch, &["data.bin.b2frame"]));
    assert!(
        text.starts_with("data.bin.b2frame: ") && text.contains("78.1 KiB of 78.1 KiB, items of 4 bytes"),
        "{text}"
    );
}

#[test]
fn what_has_no_data_cannot_be_tuned() {
    let scratch = Scratch::new();
    scratch.write("empty.bin", &[]);
    assert_fails(&tune(&scratch, &["empty.bin"]), 2, "no data");
    scratch.write("page.html", b"precious");
    scratch.write("data.bin", &ramp(100));
    assert_fails(&tune(&scratch, &["data.bin", "--html", "page.html"]), 2, "a page that is there");
}

/// A browser, by the names that it has; `BLOSC_CHROMIUM` names another.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("BLOSC_CHROMIUM").map(PathBuf::from);
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).flat_map(|directory| names.map(|name| directory.join(name)));
    named.into_iter().chain(found).find(|program| program.is_file())
}

#[test]
fn the_page_shows_a_plot_in_a_browser() {
    let scratch = Scratch::new();
    scratch.write("data<b>.bin", &ramp(20_000));
    let text = text(&tune(&scratch, &["data<b>.bin", "--html", "page.html"]));
    let tried: usize = text.split_once(": ").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
    let page = std::fs::read_to_string(scratch.join("page.html")).unwrap();
    for outside in ["src=", "href=", "@import", "fetch("] {
        assert!(!page.contains(outside), "the page needs {outside}");
    }
    assert!(!page.contains("<circle"), "dots are drawn by the page itself");
    let Some(chromium) = chromium() else {
        eprintln!("skipped: there is no Chromium on this machine (apt-get install chromium, or set BLOSC_CHROMIUM)");
        return;
    };
    let output = Command::new(&chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"])
        .arg(format!("--user-data-dir={}", scratch.join("profile").display()))
        .arg(format!("file://{}", scratch.join("page.html").display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        dom.matches("<circle").count(),
        tried,
        "a dot for each setting\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(dom.matches("class=\"best\"").count() >= 2, "the best are marked");
    assert!(dom.contains("<polyline class=\"front\""), "what nothing beats is joined");
    assert!(dom.contains("<h1>data&lt;b&gt;.bin</h1>"), "names are text, not tags");
}
