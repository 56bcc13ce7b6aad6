//! `blosc tune` finds settings for the user's data, and its page has a plot: it is opened in a
//! browser.

mod common;

use common::{BLOSC, Scratch, assert_fails, npy, ramp};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

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
    let packed =
        Command::new(BLOSC).args(["c", "data.bin", "--typesize", "4"]).current_dir(&scratch.0).status().unwrap();
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

/// On a phone and on a wide screen the page itself does not scroll sideways, and letters of the
/// plot have the size that they say.
#[test]
fn the_page_fits_narrow_and_wide_windows() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(20_000));
    text(&tune(&scratch, &["data.bin", "--html", "page.html"]));
    let Some(chromium) = chromium() else {
        eprintln!("skipped: there is no Chromium on this machine (apt-get install chromium, or set BLOSC_CHROMIUM)");
        return;
    };
    let page = std::fs::read_to_string(scratch.join("page.html")).unwrap();
    let probe = "<script>const root = document.documentElement; document.body.dataset.probe = \
         `${root.clientWidth} ${root.scrollWidth} ${plot.viewBox.baseVal.width / plot.clientWidth}`;</script></body>";
    scratch.write("probed.html", page.replace("</body>", probe).as_bytes());
    for width in [400, 1400] {
        let output = Command::new(&chromium)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"])
            .args(["--hide-scrollbars".to_owned(), format!("--window-size={width},900")])
            .arg(format!("--user-data-dir={}", scratch.join(format!("profile{width}")).display()))
            .arg(format!("file://{}", scratch.join("probed.html").display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let probe = dom.split_once("data-probe=\"").expect("the probe has run").1;
        let numbers: Vec<f64> =
            probe.split('"').next().unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
        // Some browsers have no windows below 500 pixels.
        assert!(numbers[0] <= f64::from(width.max(500)), "{width}: {numbers:?}");
        assert!(numbers[1] <= numbers[0], "{width}: it scrolls sideways: {numbers:?}");
        assert!((numbers[2] - 1.0).abs() < 0.02, "{width}: letters shrink: {numbers:?}");
    }
}

#[test]
fn compress_takes_what_it_has_measured() {
    let scratch = Scratch::new();
    scratch.write("cube.npy", &npy("<i4", "(40, 30, 25)", &ramp(30_000)));
    let run = |arguments: &[&str]| Command::new(BLOSC).args(arguments).current_dir(&scratch.0).output().unwrap();
    for wish in [
        &["--tune", "size"][..],
        &["--tune", "speed"],
        &["--tune", "balance"],
        &["--target-ratio", "2"],
        &["--min-speed", "1"],
        &["--tune", "balance", "--access", ":,0,:"],
    ] {
        let output = run(&[&["c", "-f", "cube.npy"], wish].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && told.starts_with("blosc: cube.npy: tuned: --codec "), "{wish:?}: {told}");
        assert!(run(&["diff", "cube.npy", "cube.npy.b2nd"]).status.success(), "{wish:?}");
    }
    let told = String::from_utf8(run(&["c", "-f", "cube.npy", "--target-ratio", "1e6"]).stderr).unwrap();
    assert!(told.contains("no setting reaches what is wanted"), "{told}");
    std::fs::create_dir(scratch.join("runs")).unwrap();
    scratch.write("runs/a", &ramp(10_000));
    scratch.write("runs/b", &[b'x'; 10_000]);
    let told = String::from_utf8(run(&["c", "runs", "--tune", "size"]).stderr).unwrap();
    assert_eq!(told.lines().filter(|line| line.contains("tuned")).count(), 2, "{told}");
}

/// The sample for shapes is made of fewer items until it is small, and here there is only one.
#[test]
fn an_item_of_many_megabytes_has_no_shapes_to_try() {
    let scratch = Scratch::new();
    scratch.write("big.npy", &npy("|V17000000", "(1,)", &vec![7; 17_000_000]));
    let mut child = Command::new(BLOSC)
        .args(["c", "big.npy", "-o", "big.b2nd", "--tune", "size", "--access", "0"])
        .current_dir(&scratch.0)
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
