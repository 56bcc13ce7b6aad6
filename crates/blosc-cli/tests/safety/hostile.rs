//! Small files that claim to be large: no command takes more memory or time than they are worth.
#![cfg(target_os = "linux")]

use crate::common::{BLOSC, Scratch, run};
use blosc_oxide::{
    ArrayOptions, Chunk, Fill, Frame, FrameLayout, FrameOptions, Limits, NdArray, Options, Special, fill_chunk,
    special_chunk, storage::Durability,
};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const CHUNKS: usize = 100_000_000;
const GIB: usize = 1 << 30;
/// What each command may take: the limit that it is given and 100 MB.
const MAX_MEMORY: &str = "64M";
const CEILING: u64 = (64 << 10) + 100_000;
/// How long each may take. Tests are built without most optimisations.
const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });

/// A run of the binary, the most memory that it has used in KiB, and how long it took.
struct Watched {
    output: Output,
    peak: u64,
    time: Duration,
}

/// Runs the command, and prints what it took: `--nocapture` shows it.
#[expect(clippy::print_stdout, reason = "the figures are for SECURITY.md")]
fn watched(scratch: &Scratch, arguments: &[&str]) -> Watched {
    let start = Instant::now();
    let child = Command::new(BLOSC)
        .args(["-j2", "--max-memory", MAX_MEMORY])
        .args(arguments)
        .current_dir(&scratch.0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    std::thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            let mut peak = 0;
            while let Some(now) = fs::read_to_string(&status).ok().as_deref().and_then(high_water_mark) {
                peak = now.max(peak);
                std::thread::sleep(Duration::from_micros(500));
            }
            peak
        });
        let output = child.wait_with_output().unwrap();
        let (time, peak) = (start.elapsed(), watcher.join().unwrap());
        println!("{peak:>8} KiB {:>8.3} s  {}", time.as_secs_f64(), arguments.join(" "));
        Watched { output, peak, time }
    })
}

/// What a process has used at the most; `None` if it has ended.
fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Runs a command that must end with this exit code and within the limits, and returns what it
/// printed.
#[track_caller]
fn within_limits(scratch: &Scratch, arguments: &[&str], code: i32) -> String {
    let Watched { output, peak, time } = watched(scratch, arguments);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert!(peak < CEILING, "{arguments:?} took {peak} KiB");
    assert!(time < PATIENCE, "{arguments:?} took {time:?}");
    said
}

fn options() -> FrameOptions {
    FrameOptions::new(Options::new(1)).with_checksums(false).with_durability(Durability::None)
}

/// A frame with a hundred million chunks of a gigabyte, all of them zeros and none of them stored.
fn special_chunks(path: &Path, layout: FrameLayout) {
    let mut frame = Frame::create(path, options().with_layout(layout)).unwrap();
    frame.fill(Special::Zeros, CHUNKS as u64 * GIB as u64, GIB).unwrap();
    frame.commit().unwrap();
}

/// The frame at `path` with another index, which has as many entries.
fn replace_index(path: &Path, new: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    let number = |at: usize| usize::try_from(u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap();
    let header_len = usize::try_from(u32::from_be_bytes(bytes[11..15].try_into().unwrap())).unwrap();
    let (frame_len, index) = (number(16), header_len + number(39));
    let len = Chunk::parse(&bytes[index..]).unwrap().as_bytes().len();
    bytes.truncate(frame_len);
    bytes.splice(index..index + len, new.iter().copied());
    let frame_len = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&frame_len.to_be_bytes());
    fs::write(path, bytes).unwrap();
}

/// All commands that look at a frame, each within the limits.
fn look(scratch: &Scratch, name: &str) {
    let facts = within_limits(scratch, &["info", name], 0);
    assert!(facts.contains("chunks        100000000 of"), "{facts}");
    within_limits(scratch, &["info", "--json", name], 0);
    let verified = within_limits(scratch, &["verify", name], 0);
    assert!(verified.contains("good, 100000000 chunks"), "{verified}");
    within_limits(scratch, &["meta", "list", name], 0);
    within_limits(scratch, &["meta", "set", name, "note", "content"], 0);
    within_limits(scratch, &["meta", "set", "--fixed", name, "fixed", "content"], 0);
    assert_eq!(within_limits(scratch, &["meta", "get", name, "note"], 0), "content");
    assert_eq!(within_limits(scratch, &["d", name, "-", "--bytes", "0..10"], 0), "\0".repeat(10));
    let repaired = format!("repaired-{name}");
    let report = within_limits(scratch, &["repair", "--force", name, &repaired], 0);
    assert!(report.contains("100000000 chunks found by its header, 0 of them damaged"), "{report}");
    let again = within_limits(scratch, &["verify", &repaired], 0);
    assert!(again.contains("good, 100000000 chunks"), "{again}");
}

#[test]
fn a_hundred_million_special_chunks_are_counted_and_not_decoded() {
    let scratch = Scratch::new();
    special_chunks(&scratch.join("special.b2frame"), FrameLayout::Contiguous);
    assert!(fs::metadata(scratch.join("special.b2frame")).unwrap().len() < 5_000_000);
    look(&scratch, "special.b2frame");
    within_limits(&scratch, &["convert", "special.b2frame", "copy.b2frame"], 0);
    within_limits(&scratch, &["compact", "special.b2frame"], 0);
    let last = format!("{}..{}", CHUNKS * GIB - 10, CHUNKS * GIB);
    assert_eq!(within_limits(&scratch, &["d", "special.b2frame", "-", "--bytes", &last], 0), "\0".repeat(10));
}

#[test]
fn a_hundred_million_special_chunks_of_a_sparse_frame_are_too() {
    let scratch = Scratch::new();
    special_chunks(&scratch.join("special.sframe"), FrameLayout::Sparse);
    look(&scratch, "special.sframe");
}

/// The index is a chunk of one value itself, as the reference writes it.
#[test]
fn an_index_that_is_special_itself_is_no_larger() {
    let scratch = Scratch::new();
    let path = scratch.join("special.b2frame");
    special_chunks(&path, FrameLayout::Contiguous);
    let zeros = 0x8100_0000_0000_0000_u64.to_le_bytes();
    replace_index(&path, &fill_chunk(&zeros, 8 * CHUNKS, &Options::new(8)).unwrap());
    assert!(fs::metadata(&path).unwrap().len() < 1000);
    look(&scratch, "special.b2frame");
}

/// Chunks of half a gigabyte, which is more than the memory that there may be.
#[test]
fn decompressing_and_converting_take_constant_memory() {
    let scratch = Scratch::new();
    let mut frame = Frame::create(scratch.join("large.b2frame"), options()).unwrap();
    frame.fill(Special::Zeros, GIB as u64, GIB / 2).unwrap();
    frame.commit().unwrap();
    let name = "large.b2frame";
    for arguments in [&["d", name, "plain"][..], &["convert", name, "copy.sframe"], &["convert", name, "copy.blp"]] {
        let Watched { output, peak, .. } = watched(&scratch, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(peak < CEILING, "{arguments:?} took {peak} KiB");
    }
    assert_eq!(fs::metadata(scratch.join("plain")).unwrap().len(), GIB as u64);
}

/// Where each chunk is has to be known until the end, when they are compressed anew.
#[test]
fn more_chunks_than_there_is_memory_to_list_are_not_begun_with() {
    let scratch = Scratch::new();
    special_chunks(&scratch.join("special.b2frame"), FrameLayout::Contiguous);
    for format in ["b2frame", "sframe", "packed", "frame-beta1", "frame-beta5"] {
        let arguments =
            ["convert", "special.b2frame", "copy", "--codec", "lz4", "--chunk-size", "1M", "--format", format];
        let refused = within_limits(&scratch, &arguments, 1);
        assert!(refused.contains("the list of chunks asks for") && refused.contains("--max-memory"), "{refused}");
    }
    let path = scratch.join("special.b2frame");
    store_in_front(&path, &blosc_oxide::compress(&[7; 1000], &Options::new(1)).unwrap());
    replace_index(&path, &special_chunk(Special::Zeros, 8 * CHUNKS, &Options::new(8)).unwrap());
    for copy in ["copy.b2frame", "copy.sframe"] {
        let refused = within_limits(&scratch, &["convert", "special.b2frame", copy], 1);
        assert!(refused.contains("the list of chunks asks for") && refused.contains("--max-memory"), "{refused}");
    }
    assert_eq!(scratch.names(), ["special.b2frame"]);
}

/// Puts chunks in front of those of the frame at `path`.
fn store_in_front(path: &Path, stored: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    let header_len = usize::try_from(u32::from_be_bytes(bytes[11..15].try_into().unwrap())).unwrap();
    bytes.splice(header_len..header_len, stored.iter().copied());
    for at in [16, 39] {
        let old = u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
        bytes[at..at + 8].copy_from_slice(&(old + stored.len() as u64).to_be_bytes());
    }
    fs::write(path, bytes).unwrap();
}

/// All entries name the same stored chunk of 32 bytes, which is a gigabyte of zeros.
#[test]
fn a_hundred_million_chunks_at_one_place_are_read_once() {
    let scratch = Scratch::new();
    let path = scratch.join("same.b2frame");
    special_chunks(&path, FrameLayout::Contiguous);
    store_in_front(&path, &special_chunk(Special::Zeros, GIB, &Options::new(1)).unwrap());
    replace_index(&path, &special_chunk(Special::Zeros, 8 * CHUNKS, &Options::new(8)).unwrap());
    look(&scratch, "same.b2frame");
    for copy in ["copy.b2frame", "copy.sframe"] {
        within_limits(&scratch, &["convert", "same.b2frame", copy], 0);
        assert!(within_limits(&scratch, &["verify", copy], 0).contains("good, 100000000 chunks"));
    }
    // With this it is looked whether a chunk is missing.
    within_limits(&scratch, &["meta", "set", "--fixed", "same.b2frame", "proxy-source", "content"], 0);
    look(&scratch, "same.b2frame");
}

/// Entries name two stored chunks in turn, each of some hundred bytes that are megabytes of data.
#[test]
fn chunks_that_an_index_names_in_turn_are_decoded_once() {
    const TIMES: usize = 20_000;
    const NBYTES: usize = 8 << 20;
    let scratch = Scratch::new();
    let path = scratch.join("turns.b2frame");
    let mut frame = Frame::create(&path, options()).unwrap();
    frame.fill(Special::Zeros, (2 * TIMES * NBYTES) as u64, NBYTES).unwrap();
    frame.commit().unwrap();
    let chunk = |text: &[u8]| {
        let data: Vec<u8> = text.iter().copied().cycle().take(NBYTES).collect();
        blosc_oxide::compress(&data, &Options::new(1).with_codec(blosc_oxide::Codec::Zstd)).unwrap()
    };
    let (one, other) = (chunk(b"one chunk "), chunk(b"another"));
    store_in_front(&path, &[&one[..], &other].concat());
    let entries = [0_u64.to_le_bytes(), (one.len() as u64).to_le_bytes()].concat().repeat(TIMES);
    replace_index(&path, &blosc_oxide::compress(&entries, &Options::new(8)).unwrap());
    assert!(fs::metadata(&path).unwrap().len() < 100_000);
    for (arguments, sign) in [
        (&["info", "turns.b2frame"][..], "chunks        40000 of"),
        (&["verify", "turns.b2frame"], "good, 40000 chunks"),
        (&["repair", "turns.b2frame", "repaired.b2frame"], "40000 chunks found by its header, 0 of them damaged"),
    ] {
        let said = within_limits(&scratch, arguments, 0);
        assert!(said.contains(sign), "{said}");
    }
}

#[test]
fn an_array_of_a_hundred_million_chunks_is_counted_too() {
    let scratch = Scratch::new();
    let path = scratch.join("array.b2nd");
    let length = CHUNKS as u64 * 1000;
    let array =
        ArrayOptions::new(&[length], Options::new(1)).with_chunks(&[1000]).with_blocks(&[1000]).with_dtype("|u1");
    let array = array.with_frame(options().with_limits(Limits::new().with_max_allocation(usize::MAX)));
    NdArray::create(&path, &array, &Fill::Zeros).unwrap().commit().unwrap();
    look(&scratch, "array.b2nd");
    assert_eq!(within_limits(&scratch, &["d", "array.b2nd", "-", "--slice", "99999999990:"], 0), "\0".repeat(10));
}

#[test]
fn variable_length_metalayers_are_listed_and_not_decoded() {
    let scratch = Scratch::new();
    let path = scratch.join("layers.b2frame");
    let mut frame = Frame::create(&path, options()).unwrap();
    frame.append(b"data").unwrap();
    let large = vec![0; 500 << 20];
    for name in ["a", "b", "c", "bloscpack"] {
        frame.vlmetalayers_mut().add(name, &large).unwrap();
    }
    frame.vlmetalayers_mut().add("small", b"shown").unwrap();
    frame.commit().unwrap();
    drop(large);
    assert!(fs::metadata(&path).unwrap().len() < 2000);
    let name = "layers.b2frame";
    let facts = within_limits(&scratch, &["info", name], 0);
    assert!(facts.contains("a (524288000 bytes)") && !facts.contains("shown"), "{facts}");
    let facts = within_limits(&scratch, &["info", "--vlmeta", "small", name], 0);
    assert!(facts.contains("small: shown"), "{facts}");
    let facts = within_limits(&scratch, &["info", "--json", "--vlmeta", "small", name], 0);
    assert!(facts.contains("\"vlmeta\": {\"name\": \"small\", \"text\": \"shown\"}"), "{facts}");
    within_limits(&scratch, &["verify", name], 0);
    within_limits(&scratch, &["meta", "list", name], 0);
    assert_eq!(within_limits(&scratch, &["meta", "get", name, "small"], 0), "shown");
    within_limits(&scratch, &["meta", "set", name, "b", "other"], 0);
    within_limits(&scratch, &["meta", "delete", name, "c"], 0);
    within_limits(&scratch, &["repair", name, "repaired.b2frame"], 0);
    assert_eq!(within_limits(&scratch, &["d", name, "-", "--bytes", "0..4"], 0), "data");
    assert_eq!(within_limits(&scratch, &["d", name, "-"], 0), "data");
    within_limits(&scratch, &["d", name, "out.npy"], 0);
    for asked in [&["meta", "get", name, "a"][..], &["info", "--vlmeta", "a", name], &["convert", name, "b.b2frame"]] {
        let refused = within_limits(&scratch, asked, 1);
        assert!(refused.contains("--max-memory raises the limit"), "{refused}");
    }
}

/// A codec has a part in them, so that they are decoded to verify them: as many as there is memory
/// for.
#[test]
fn metalayers_that_have_to_be_decoded_are_held_to_the_memory_together() {
    let scratch = Scratch::new();
    let path = scratch.join("layers.b2frame");
    let mut frame = Frame::create(&path, options()).unwrap();
    frame.append(b"data").unwrap();
    let content: Vec<u8> = (0_u8..7).cycle().take(15 << 20).collect();
    for name in 'a'..='o' {
        frame.vlmetalayers_mut().add(&name.to_string(), &content).unwrap();
    }
    frame.commit().unwrap();
    drop(content);
    assert!(fs::metadata(&path).unwrap().len() < 4_000_000);
    let name = "layers.b2frame";
    within_limits(&scratch, &["info", name], 0);
    for command in [&["verify", name][..], &["repair", name, "repaired.b2frame"]] {
        let refused = within_limits(&scratch, command, 1);
        let why = "metalayer \"b\": after 15728640 bytes in others: the data of a chunk asks for 15728640 bytes";
        assert!(refused.contains(why) && refused.contains("--max-memory raises the limit"), "{refused}");
        assert!(!refused.contains("damaged"), "{refused}");
    }
    let refused = within_limits(&scratch, &["convert", name, "converted.b2frame"], 1);
    assert!(refused.contains("the variable-length metalayers") && refused.contains("--max-memory"), "{refused}");
}

/// A chunk whose data is a pickle: `start`, then `each` many times, and the end.
fn pickle_chunk(path: &Path, start: &[u8], each: &[u8], times: usize) {
    let data = [b"\x80\x05", start, &each.repeat(times), b"."].concat();
    fs::write(path, blosc_oxide::compress(&data, &Options::new(1)).unwrap()).unwrap();
}

/// What is written once and used a thousand times is not copied a thousand times.
#[test]
fn pickles_that_use_something_large_again_and_again_take_no_memory() {
    let scratch = Scratch::new();
    let text = |len: usize| [&b"X"[..], &u32::try_from(len).unwrap().to_le_bytes(), &vec![b'a'; len]].concat();
    let tuple = |len: usize| [&b"("[..], &b"N".repeat(len), b"t"].concat();
    let dtype = b"cnumpy\ndtype\n";
    let cases: [(&str, Vec<u8>, &[u8], usize); 5] = [
        ("function.chunk", [&text(12 << 20)[..], b"\x94"].concat(), b"h\x00h\x00\x93", 1000),
        ("type.chunk", [&dtype[..], b"\x94", &text(12 << 20), b"\x85\x94"].concat(), b"h\x00h\x01R", 1000),
        (
            "state.chunk",
            [&dtype[..], b"\x94", &text(2), b"\x85\x94", &tuple(30_000), b"\x94"].concat(),
            b"h\x00h\x01Rh\x02b",
            12_000,
        ),
        (
            "call.chunk",
            [&dtype[..], b"\x94(", &text(2), &b"N".repeat(40_000), b"t\x94"].concat(),
            b"h\x00h\x01R",
            19_000,
        ),
        ("lines.chunk", [&b"c"[..], &vec![b'a'; 12 << 20], b"\nb\n\x94)\x94"].concat(), b"h\x00h\x01R", 1000),
    ];
    for (name, start, each, times) in cases {
        pickle_chunk(&scratch.join(name), &start, each, times);
        assert!(fs::metadata(scratch.join(name)).unwrap().len() < 400_000, "{name}");
        within_limits(&scratch, &["info", name], 0);
        let Watched { output, peak, time } = watched(&scratch, &["d", "--npy", name, &format!("{name}.npy")]);
        assert!(output.status.code().is_some_and(|code| code < 2), "{name}: {output:?}");
        assert!(peak < CEILING && time < PATIENCE, "{name} took {peak} KiB and {time:?}");
    }
}

/// A byte of msgpack can be a list that has room for four values.
#[test]
fn msgpack_that_becomes_large_in_memory_is_refused() {
    let scratch = Scratch::new();
    let nested = [&[0x91; 30][..], &[0xc0]].concat();
    let count = 400_000_u32;
    let lists = [&[0xdd][..], &count.to_be_bytes(), &nested.repeat(count as usize)].concat();
    for (name, layer) in [("tensor.b2frame", "__pack_tensor__"), ("store.b2e", "estore_metadata")] {
        let mut frame = options();
        if layer == "estore_metadata" {
            frame = frame.with_metalayer("b2embed", [0xc3]);
        }
        let mut frame = Frame::create(scratch.join(name), frame).unwrap();
        frame.append(b"data").unwrap();
        frame.vlmetalayers_mut().add(layer, &lists).unwrap();
        frame.commit().unwrap();
        assert!(fs::metadata(scratch.join(name)).unwrap().len() < 1_000_000, "{name}");
        let (copy, out) = (format!("{name}.blp"), format!("{name}.out"));
        for arguments in [&["info", name][..], &["convert", name, &copy], &["d", name, &out], &["verify", name]] {
            let Watched { output, peak, time } = watched(&scratch, arguments);
            assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {output:?}");
            assert!(peak < CEILING && time < PATIENCE, "{arguments:?} took {peak} KiB and {time:?}");
        }
    }
}

/// What a user gives is held to the memory as well: it is all there at once.
#[test]
fn what_is_put_into_memory_as_a_whole_is_held_to_it() {
    let scratch = Scratch::new();
    fs::File::create(scratch.join("large")).unwrap().set_len(400 << 20).unwrap();
    scratch.write("small", b"data");
    assert!(run(&scratch, &["c", "small", "out.b2frame"]).status.success());
    let before = fs::read(scratch.join("out.b2frame")).unwrap();
    for command in [
        &["meta", "set", "out.b2frame", "name", "@large"][..],
        &["meta", "set", "--fixed", "out.b2frame", "name", "@large"],
        &["c", "--vlmeta", "name=large", "small", "new.b2frame"],
        &["c", "--meta", "name=large", "small", "new.b2nd"],
        &["c", "large", "large.b2chunk"],
        &["c", "large", "large.blosc1"],
    ] {
        let refused = within_limits(&scratch, command, 1);
        assert!(refused.contains("--max-memory raises the limit"), "{command:?}: {refused}");
    }
    assert!(fs::read(scratch.join("out.b2frame")).unwrap() == before);
    assert_eq!(scratch.names(), ["large", "out.b2frame", "small"]);
}

/// A Zarr array of a million bytes in one chunk, which is not there yet.
fn zarr(scratch: &Scratch, name: &str) {
    fs::create_dir_all(scratch.join(format!("{name}/c"))).unwrap();
    let text = r#"{"zarr_format":3,"node_type":"array","shape":[1000000],"data_type":"uint8","chunk_grid":{"name":"regular",
        "configuration":{"chunk_shape":[1000000]}},"chunk_key_encoding":{"name":"default"},"fill_value":0,
        "codecs":[{"name":"bytes"}],"attributes":{}}"#;
    scratch.write(&format!("{name}/zarr.json"), text.as_bytes());
}

#[test]
fn chunks_of_zarr_that_are_no_plain_files_are_refused() {
    let scratch = Scratch::new();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, scratch.join(name)).unwrap();
    let secret = scratch.write("secret", &[42; 1_000_000]);
    for name in ["device", "outside", "pipe", "folder", "directory"] {
        zarr(&scratch, name);
    }
    link(Path::new("/dev/zero"), "device/c/0");
    link(&secret, "outside/c/0");
    assert!(Command::new("mkfifo").arg(scratch.join("pipe/c/0")).status().unwrap().success());
    fs::create_dir(scratch.join("directory/c/0")).unwrap();
    fs::remove_dir(scratch.join("folder/c")).unwrap();
    fs::create_dir(scratch.join("elsewhere")).unwrap();
    scratch.write("elsewhere/0", &[42; 1_000_000]);
    link(&scratch.join("elsewhere"), "folder/c");
    for name in ["device", "outside", "pipe", "folder", "directory"] {
        let said = within_limits(&scratch, &["convert", name, "out.b2nd"], 1);
        assert!(said.contains(&format!("{name}/c/0: a link or no regular file")), "{said}");
        assert!(!scratch.join("out.b2nd").exists(), "{name}");
    }
    zarr(&scratch, "plain");
    fs::rename(&secret, scratch.join("plain/c/0")).unwrap();
    within_limits(&scratch, &["convert", "plain", "out.b2nd"], 0);
}

#[test]
fn items_of_zarr_that_claim_to_be_large_take_no_memory() {
    let scratch = Scratch::new();
    for size in ["200000000000", "2000000000"] {
        let name = format!("{size}.zarr");
        fs::create_dir(scratch.join(&name)).unwrap();
        let text = format!(
            r#"{{"zarr_format":2,"shape":[1],"chunks":[1],"dtype":"|S{size}","compressor":null,"fill_value":null,
            "order":"C","filters":null}}"#
        );
        scratch.write(&format!("{name}/.zarray"), text.as_bytes());
        let listed = within_limits(&scratch, &["ls", &name], 0);
        assert!(listed.contains("zarr2"), "{listed}");
        let said = within_limits(&scratch, &["convert", &name, "out.b2nd"], 1);
        assert!(said.contains(&format!("an item asks for {size} bytes")), "{said}");
    }
}

#[test]
fn descriptions_of_zarr_that_are_too_long_are_not_read() {
    let scratch = Scratch::new();
    for name in ["zarr.json", ".zarray"] {
        let directory = format!("long{}", name.len());
        fs::create_dir(scratch.join(&directory)).unwrap();
        fs::File::create(scratch.join(format!("{directory}/{name}"))).unwrap().set_len(2_000_000_000).unwrap();
        for arguments in [&["ls", &directory][..], &["convert", &directory, "out.b2nd"]] {
            let said = within_limits(&scratch, arguments, 1);
            assert!(said.contains("a description asks for 2000000000 bytes"), "{said}");
        }
    }
    let said = within_limits(&scratch, &["ls", "-r", "."], 1);
    assert!(said.contains("long9") && said.contains("long7"), "{said}");
}
