//! What the library shows to a linker.
#![cfg(target_os = "linux")]

use libblosc2_tests::ours;
use std::process::Command;

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn exactly_the_functions_of_c_blosc2_are_exported() {
    let symbols = output(Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(ours()));
    let mut found: Vec<&str> = symbols.lines().filter_map(|line| line.split(' ').next()).collect();
    let mut expected: Vec<&str> = include_str!("names.txt").lines().collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(found.len(), 164);
}

#[test]
fn the_name_that_programs_are_linked_with_is_that_of_c_blosc2() {
    let dynamic = output(Command::new("readelf").arg("-d").arg(ours()));
    assert!(dynamic.contains("Library soname: [libblosc2.so.9]"), "{dynamic}");
}
