//! Instruction sets that are forced by `BLOSC_OXIDE_ISA`: the same bytes from each, and an error
//! for what is not there.

mod common;

use common::{BLOSC, Scratch, assert_fails, ramp};
use std::fs;
use std::process::{Command, Output};

fn forced(scratch: &Scratch, isa: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(BLOSC);
    command.args(arguments).env("BLOSC_OXIDE_ISA", isa).current_dir(&scratch.0).output().expect("the binary runs")
}

/// The line of `--version --verbose` on instruction sets.
fn told(scratch: &Scratch, isa: &str) -> String {
    let output = forced(scratch, isa, &["--version", "--verbose"]);
    assert!(output.status.success(), "{isa}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().nth(1).expect("a second line").to_owned()
}

#[test]
fn every_instruction_set_gives_the_same_file_and_is_told() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(300_000));
    let line = told(&scratch, "");
    let (_, there_are) = line.split_once(" of ").expect("those that there are");
    assert!(there_are.starts_with("scalar"), "{line}");
    for isa in there_are.split(", ") {
        assert_eq!(told(&scratch, isa), format!("instruction set {isa} of {there_are}"));
        for filter in ["shuffle", "bitshuffle"] {
            let (file, back) = (format!("{isa}-{filter}.b2frame"), format!("{isa}-{filter}.bin"));
            let options = ["c", "--typesize", "4", "--codec", "lz4", "--filter", filter, "data.bin", &file];
            assert!(forced(&scratch, isa, &options).status.success(), "{isa} {filter}");
            assert_eq!(
                fs::read(scratch.join(&file)).unwrap(),
                fs::read(scratch.join(format!("scalar-{filter}.b2frame"))).unwrap()
            );
            assert!(forced(&scratch, isa, &["d", &file, &back]).status.success(), "{isa} {filter}");
            assert_eq!(fs::read(scratch.join(&back)).unwrap(), ramp(300_000), "{isa} {filter}");
        }
    }
}

#[test]
fn an_instruction_set_that_is_not_there_is_an_error_of_usage() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    let foreign = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    for name in [foreign, "AVX2", "fastest"] {
        let message = assert_fails(&forced(&scratch, name, &["c", "data.bin"]), 2, name);
        assert!(
            message.contains("BLOSC_OXIDE_ISA") && message.contains(name) && message.contains("scalar"),
            "{message}"
        );
        assert_fails(&forced(&scratch, name, &["--version", "--verbose"]), 2, name);
    }
    assert_eq!(scratch.names(), ["data.bin"]);
}
