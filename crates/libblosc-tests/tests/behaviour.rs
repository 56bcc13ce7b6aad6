//! What each function does, number by number: of ours always, and of C-Blosc where `BLOSC1_LIBRARY`
//! names it, so that the numbers are its own.
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "one call after the other, as C programs do")]

use libblosc_tests::{Blosc, CODECS, Sizes, data_sets, in_a_child, ours, theirs};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};
use std::time::Duration;

/// Runs a check on ours, in a process of its own since settings are those of a process; and on
/// C-Blosc if it is asked for.
macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        mod of_ours {
            $(#[test]
            fn $name() {
                let library = super::ours();
                assert_eq!(super::in_a_child(|| { super::$name(library); true }), Some(true));
            })*
        }
        mod of_c_blosc {
            $(#[test]
            #[ignore = "needs C-Blosc, which BLOSC1_LIBRARY names"]
            fn $name() {
                let library = super::theirs();
                assert_eq!(super::in_a_child(|| { super::$name(library); true }), Some(true));
            })*
        }
    };
}

checks!(
    a_library_that_was_not_started_has_nothing_to_free,
    settings_come_back_and_outlive_the_end,
    unknown_codecs_unset_the_codec,
    numbers_and_names_of_codecs_match,
    parameters_out_of_range_have_their_codes,
    a_chunk_that_does_not_fit_is_0,
    empty_and_tiny_buffers_are_chunks,
    outputs_must_have_room_for_the_data,
    headers_are_told_as_they_stand,
    damaged_headers_have_their_codes,
    items_are_bounded,
    validation_compares_the_length,
    forced_blocks_are_at_least_128_bytes_and_enlarged_if_split,
    split_modes_decide_for_both_functions,
    variables_win_and_persist,
);

fn bytes() -> Vec<u8> {
    (0..100_000).map(|index| u8::try_from(index / 50 % 256).unwrap()).collect()
}

fn chunk(library: &Blosc) -> Vec<u8> {
    library.chunk(5, 1, 4, &bytes(), 110_000).unwrap()
}

fn a_library_that_was_not_started_has_nothing_to_free(library: &Blosc) {
    // SAFETY: these take nothing.
    unsafe {
        assert_eq!((library.free_resources)(), -1);
        (library.destroy)();
        (library.init)();
        assert_eq!((library.free_resources)(), 0);
        assert_eq!((library.free_resources)(), 0);
        (library.destroy)();
        assert_eq!((library.free_resources)(), -1);
        chunk(library);
        assert_eq!((library.free_resources)(), 0);
        chunk(library);
    }
}

fn settings_come_back_and_outlive_the_end(library: &Blosc) {
    // SAFETY: these take numbers.
    unsafe {
        assert_eq!((library.get_nthreads)(), 1);
        assert_eq!((library.set_nthreads)(3), 1);
        assert_eq!((library.set_nthreads)(2), 3);
        assert_eq!((library.get_blocksize)(), 0);
        (library.set_blocksize)(4096);
        assert_eq!(library.codec().as_deref(), Some("blosclz"));
        assert_eq!(library.set_codec("zstd"), 5);
        (library.destroy)();
        assert_eq!((library.get_nthreads)(), 2);
        assert_eq!((library.get_blocksize)(), 4096);
        (library.set_blocksize)((1 << 32) + 5);
        assert_eq!((library.get_blocksize)(), 5);
        assert_eq!(library.codec().as_deref(), Some("zstd"));
        for count in [0, -1, 257, 256] {
            (library.set_nthreads)(count);
            assert_eq!((library.get_nthreads)(), count);
        }
    }
}

fn unknown_codecs_unset_the_codec(library: &Blosc) {
    assert_eq!(library.set_codec("LZ4"), -1);
    assert_eq!(library.codec(), None);
    assert_eq!(library.chunk(5, 1, 4, &bytes(), 110_000), Err(-5));
    assert_eq!(library.chunk_ctx(5, 1, 4, &bytes(), 110_000, "nope", 0, 1), Err(-5));
    assert_eq!(library.set_codec("lz4"), 1);
    assert!(library.chunk(5, 1, 4, &bytes(), 110_000).is_ok());
}

fn numbers_and_names_of_codecs_match(library: &Blosc) {
    let libraries = ["BloscLZ", "LZ4", "LZ4", "Snappy", "Zlib", "Zstd"];
    let numbers = [0, 1, 1, 2, 3, 4];
    // SAFETY: takes nothing, and returns a string that stays.
    let list = unsafe { CStr::from_ptr((library.list_compressors)()) }.to_str().unwrap();
    let there: Vec<&str> = CODECS.into_iter().filter(|codec| library.has(codec)).collect();
    assert_eq!(list, there.join(","));
    for (number, codec) in (0..).zip(CODECS) {
        let name = CString::new(codec).unwrap();
        let mut back: *const c_char = null();
        let (mut of, mut version): (*mut c_char, *mut c_char) = (null_mut(), null_mut());
        let expected = if library.has(codec) { number } else { -1 };
        // SAFETY: strings, and places that can be written to.
        unsafe {
            assert_eq!((library.compname_to_compcode)(name.as_ptr()), expected);
            assert_eq!((library.compcode_to_compname)(number, &raw mut back), expected);
            assert_eq!(CStr::from_ptr(back), &*name);
            let found = (library.get_complib_info)(name.as_ptr(), &raw mut of, &raw mut version);
            if library.has(codec) {
                assert_eq!(found, numbers[usize::try_from(number).unwrap()]);
                assert_eq!(CStr::from_ptr(of).to_str(), Ok(libraries[usize::try_from(number).unwrap()]));
                assert!(!CStr::from_ptr(version).is_empty());
            } else {
                assert_eq!((found, of.is_null(), version.is_null()), (-1, true, true));
            }
            libc::free(of.cast());
            libc::free(version.cast());
        }
    }
    for number in [-2, -1, 6, 7] {
        let mut back = c"there was something".as_ptr();
        // SAFETY: a place that can be written to.
        assert_eq!(unsafe { (library.compcode_to_compname)(number, &raw mut back) }, -1);
        assert!(back.is_null());
    }
}

fn parameters_out_of_range_have_their_codes(library: &Blosc) {
    let data = bytes();
    for (level, shuffle) in [(-1, 1), (10, 1), (5, -1), (5, 3), (10, 7)] {
        assert_eq!(library.chunk(level, shuffle, 4, &data, 110_000), Err(-10));
        assert_eq!(library.chunk_ctx(level, shuffle, 4, &data, 110_000, "lz4", 0, 1), Err(-10));
    }
    assert_eq!(library.chunk(10, 1, 4, &data, 15), Err(0));
    // A longer type counts as one byte.
    assert_eq!(library.chunk(5, 1, 256, &data, 110_000).unwrap()[3], 1);
    assert_eq!(library.chunk(5, 1, 255, &data, 110_000).unwrap()[3], 255);
}

fn a_chunk_that_does_not_fit_is_0(library: &Blosc) {
    let noise = &data_sets()[2];
    let len = noise.len();
    for level in [0, 5] {
        for room in [0, 15, 100, len, len + 15] {
            assert_eq!(library.chunk(level, 1, 4, noise, room), Err(0), "{room}");
        }
        assert_eq!(library.chunk(level, 1, 4, noise, len + 16).unwrap().len(), len + 16);
    }
    for room in [100, 300] {
        assert_eq!(library.chunk(5, 1, 4, &bytes(), room), Err(0));
    }
    // SAFETY: such lengths are refused before anything is read or written.
    let refused = unsafe { (library.compress)(5, 1, 4, 1 << 31, noise.as_ptr().cast(), null_mut(), 100) };
    assert_eq!(refused, 0);
}

fn empty_and_tiny_buffers_are_chunks(library: &Blosc) {
    let empty = library.chunk(5, 1, 4, &[], 100).unwrap();
    assert_eq!(empty.len(), 16);
    assert_eq!(library.sizes(&empty).nbytes, 0);
    assert_eq!(library.data(&empty, 0), Err(0));
    assert_eq!(library.data(&empty, 10), Err(0));
    let tiny = library.chunk(9, 2, 8, &[7, 8], 18).unwrap();
    assert_eq!(library.data(&tiny, 2).unwrap(), [7, 8]);
}

fn outputs_must_have_room_for_the_data(library: &Blosc) {
    let chunk = chunk(library);
    assert_eq!(library.data(&chunk, 99_999), Err(-1));
    assert_eq!(library.data(&chunk, 100_000).unwrap(), bytes());
    for threads in [-1, 0, 1, 4] {
        assert_eq!(library.data_ctx(&chunk, 100_000, threads).unwrap(), bytes());
        assert_eq!(library.data_ctx(&chunk, 99_999, threads), Err(-1));
    }
}

fn headers_are_told_as_they_stand(library: &Blosc) {
    let chunk = chunk(library);
    let Sizes { nbytes, cbytes, blocksize } = library.sizes(&chunk);
    assert_eq!((nbytes, cbytes, blocksize), (100_000, chunk.len(), 100_000));
    assert_eq!(library.description(&chunk), ((4, 1), (2, 1), Some("BloscLZ".to_owned()), (0, 100_000)));
    for version in [0, 1, 3, 4, 5, 6] {
        let mut other = chunk.clone();
        other[0] = version;
        assert_eq!(library.sizes(&other), Sizes::default());
        let expected = ((0, 0), (version.into(), 1), Some("BloscLZ".to_owned()), (-1, 0));
        assert_eq!(library.description(&other), expected);
    }
    for (at, nbytes, valid) in [(4, [255; 4], -1), (4, [0, 1, 0, 0], 0), (12, [255; 4], -1), (8, [255; 4], 0)] {
        let mut other = chunk.clone();
        other[at..at + 4].copy_from_slice(&nbytes);
        assert_eq!(library.description(&other).3.0, valid);
        let sizes = library.sizes(&other);
        let number = isize::try_from(i32::from_le_bytes(nbytes)).unwrap().cast_unsigned();
        assert_eq!(
            [(4, sizes.nbytes), (8, sizes.blocksize), (12, sizes.cbytes)].map(|pair| pair.1)[at / 4 - 1],
            number
        );
    }
}

fn damaged_headers_have_their_codes(library: &Blosc) {
    let good = chunk(library);
    // Where, what, what decompressing returns, what taking an item does.
    let cases: [(usize, &[u8], c_int, c_int); 14] = [
        (0, &[1], -1, -9),
        (0, &[5], -1, -9),
        (1, &[0], -9, -9),
        (1, &[2], -9, -9),
        (2, &[0xA1], -5, -5),
        (2, &[0xE1], -5, -5),
        (2, &[0x12], -1, -1),
        (3, &[0], -1, -1),
        (4, &[255, 255, 255, 127], -1, -1),
        (8, &[0, 0, 0, 0], -1, -1),
        (8, &[255; 4], -1, -1),
        (8, &[255, 255, 255, 127], -1, -1),
        (12, &[16, 0, 0, 0], -1, -1),
        (12, &[255; 4], -1, -1),
    ];
    for (at, bytes, whole, item) in cases {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        assert_eq!(library.data(&bad, 110_000), Err(whole), "{at} {bytes:?}");
        assert_eq!(library.items(&bad, 0, 10, 3000), Err(item), "{at} {bytes:?}");
    }
}

fn items_are_bounded(library: &Blosc) {
    let data = bytes();
    for level in [0, 5] {
        let chunk = library.chunk(level, 1, 4, &data, 110_000).unwrap();
        for (start, count) in [(0, 1), (0, 25_000), (24_999, 1), (12_345, 678)] {
            let (from, len) = (usize::try_from(start).unwrap() * 4, usize::try_from(count).unwrap() * 4);
            assert_eq!(library.items(&chunk, start, count, len).unwrap(), data[from..from + len]);
        }
        for (start, count) in [(0, 25_001), (25_000, 1), (25_001, 0), (-1, 1)] {
            assert_eq!(library.items(&chunk, start, count, 200_000), Err(-1));
        }
        assert_eq!(library.items(&chunk, 0, 0, 0), Err(0));
    }
}

fn validation_compares_the_length(library: &Blosc) {
    let chunk = chunk(library);
    let len = chunk.len();
    for (claimed, expected) in
        [(len, (0, 100_000)), (len - 1, (-1, 100_000)), (len + 1, (-1, 100_000)), (15, (-1, 77)), (0, (-1, 77))]
    {
        let mut nbytes = 77;
        // SAFETY: a chunk, and a number that can be written to.
        let valid = unsafe { (library.cbuffer_validate)(chunk.as_ptr().cast(), claimed, &raw mut nbytes) };
        assert_eq!((valid, nbytes), expected);
    }
}

fn forced_blocks_are_at_least_128_bytes_and_enlarged_if_split(library: &Blosc) {
    let data = bytes();
    let blocksize = |level, typesize, codec, forced| {
        library.sizes(&library.chunk_ctx(level, 1, typesize, &data, 200_000, codec, forced, 1).unwrap()).blocksize
    };
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        let is_split = codec != "zstd";
        assert_eq!(blocksize(5, 4, codec, 1), 128, "{codec}");
        assert_eq!(blocksize(5, 4, codec, 130), 128, "{codec}");
        assert_eq!(blocksize(5, 7, codec, 130), 126, "{codec}");
        assert_eq!(blocksize(5, 4, codec, 256), 256, "{codec}");
        assert_eq!(blocksize(5, 4, codec, 4096), if is_split { 65_536 } else { 4096 }, "{codec}");
        assert_eq!(blocksize(5, 8, codec, 9000), if is_split { 72_000 } else { 9000 }, "{codec}");
        assert_eq!(blocksize(5, 32, codec, 4096), 4096, "{codec}");
        assert_eq!(blocksize(5, 4, codec, 1 << 31), 128, "{codec}");
        assert_eq!(blocksize(5, 4, codec, (1 << 32) + 256), 256, "{codec}");
        assert_eq!(blocksize(5, 4, codec, 1 << 30), 100_000, "{codec}");
    }
    // SAFETY: takes a number.
    unsafe { (library.set_blocksize)(4096) };
    assert_eq!(library.sizes(&library.chunk(5, 1, 4, &data, 200_000).unwrap()).blocksize, 65_536);
    // SAFETY: takes a number.
    unsafe { (library.set_blocksize)(0) };
    assert_eq!(library.sizes(&library.chunk(5, 1, 4, &data, 200_000).unwrap()).blocksize, 100_000);
}

fn split_modes_decide_for_both_functions(library: &Blosc) {
    const NOT_SPLIT: u8 = 0x10;
    let data = bytes();
    for (mode, codec, is_split) in [
        (1, "zstd", true),
        (1, "lz4", true),
        (2, "lz4", false),
        (2, "blosclz", false),
        (3, "lz4", false),
        (3, "blosclz", true),
        (4, "lz4", true),
        (4, "zstd", false),
    ] {
        // SAFETY: takes a number.
        unsafe { (library.set_splitmode)(mode) };
        library.set_codec(codec);
        for chunk in [
            library.chunk(5, 1, 4, &data, 110_000).unwrap(),
            library.chunk_ctx(5, 1, 4, &data, 110_000, codec, 0, 1).unwrap(),
        ] {
            assert_eq!(chunk[2] & NOT_SPLIT == 0, is_split, "{mode} {codec}");
            assert_eq!(library.data(&chunk, 100_000).unwrap(), data);
        }
    }
}

fn set_variable(name: &str, value: Option<&str>) {
    let name = CString::new(name).unwrap();
    match value {
        Some(value) => {
            let value = CString::new(value).unwrap();
            // SAFETY: strings; there is no other thread in this process.
            unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
        }
        // SAFETY: a string; there is no other thread in this process.
        None => unsafe {
            libc::unsetenv(name.as_ptr());
        },
    }
}

fn variables_win_and_persist(library: &Blosc) {
    let data = bytes();
    let with = |name: &str, value: &str| {
        set_variable(name, Some(value));
        let chunk = library.chunk(5, 1, 4, &data, 110_000);
        set_variable(name, None);
        chunk
    };
    let plain = chunk(library);
    let header = |chunk: &[u8]| (chunk[2], chunk[3]);
    assert_eq!(with("BLOSC_CLEVEL", "0").unwrap().len(), 100_016);
    assert_eq!(with("BLOSC_CLEVEL", "no number").unwrap().len(), 100_016);
    assert_eq!(with("BLOSC_CLEVEL", "11"), Err(-10));
    assert_eq!(with("BLOSC_CLEVEL", "-3").as_ref(), Ok(&plain));
    assert_eq!(header(&with("BLOSC_SHUFFLE", "NOSHUFFLE").unwrap()), (0, 4));
    assert_eq!(header(&with("BLOSC_SHUFFLE", "BITSHUFFLE").unwrap()), (4, 4));
    assert_eq!(header(&with("BLOSC_SHUFFLE", "2").unwrap()), (1, 4));
    assert_eq!(header(&with("BLOSC_TYPESIZE", "8").unwrap()), (1, 8));
    assert_eq!(header(&with("BLOSC_TYPESIZE", " 1000").unwrap()), (1, 1));
    assert_eq!(header(&with("BLOSC_TYPESIZE", "\t\x0B +16 bytes").unwrap()), (1, 16));
    assert_eq!(with("BLOSC_TYPESIZE", "0").as_ref(), Ok(&plain));
    assert_eq!(with("BLOSC_NOLOCK", "1").as_ref(), Ok(&plain));
    assert_eq!(with("BLOSC_SPLITMODE", "none"), Err(-1));
    // Up to here nothing has been changed for good.
    assert_eq!(chunk(library), plain);
    assert_eq!(with("BLOSC_NTHREADS", "3").as_ref(), Ok(&plain));
    assert_eq!(with("BLOSC_NTHREADS", "0").as_ref(), Ok(&plain));
    // SAFETY: takes nothing.
    assert_eq!(unsafe { (library.get_nthreads)() }, 3);
    assert_eq!(with("BLOSC_BLOCKSIZE", "4096").map(|chunk| library.sizes(&chunk).blocksize), Ok(65_536));
    // SAFETY: takes nothing.
    assert_eq!(unsafe { (library.get_blocksize)() }, 4096);
    assert_eq!(with("BLOSC_SPLITMODE", "NEVER").map(|chunk| header(&chunk)), Ok((0x11, 4)));
    assert_eq!(header(&chunk(library)), (0x11, 4));
    assert_eq!(library.chunk_ctx(5, 1, 4, &data, 110_000, "lz4", 0, 1).map(|chunk| chunk[2] & 0x10), Ok(0x10));
    assert_eq!(with("BLOSC_COMPRESSOR", "zstd").map(|chunk| header(&chunk)), Ok((0x91, 4)));
    assert_eq!(library.codec().as_deref(), Some("zstd"));
    assert_eq!(with("BLOSC_COMPRESSOR", "none"), Err(-1));
    assert_eq!(library.codec(), None);
    set_variable("BLOSC_NTHREADS", Some("5"));
    assert_eq!(library.data(&plain, 100_000).unwrap(), data);
    // SAFETY: takes nothing.
    assert_eq!(unsafe { (library.get_nthreads)() }, 5);
}

/// A check on ours alone, in a process of its own as well: it must not be the first to use the
/// library in this one.
#[test]
fn what_c_dies_of_is_an_error() {
    let library = ours();
    assert_eq!(
        in_a_child(|| {
            unchecked_by_c(library);
            true
        }),
        Some(true)
    );
}

#[test]
fn null_is_an_error_everywhere() {
    let library = ours();
    assert_eq!(
        in_a_child(|| {
            null_everywhere(library);
            true
        }),
        Some(true)
    );
}

/// The thread that is writing a warning when the process forks is not there in the child, which
/// must not wait for it.
#[test]
fn a_warning_under_way_does_not_stop_a_forked_process() {
    let library = ours();
    assert_eq!(in_a_child(|| forked_while_another_thread_warns(library)), Some(true));
}

fn forked_while_another_thread_warns(library: &'static Blosc) -> bool {
    let warn = || library.chunk(10, 1, 4, &bytes(), 110_000) == Err(-10);
    set_variable("BLOSC_WARN", Some("1"));
    fill_standard_error();
    std::thread::spawn(warn);
    std::thread::sleep(Duration::from_millis(200));
    in_a_child(|| {
        // SAFETY: takes a number. The child has no use for the stream.
        unsafe { libc::close(libc::STDERR_FILENO) };
        warn()
    }) == Some(true)
}

/// Makes the standard error stream a pipe that is full and that nobody reads: whoever writes to it
/// waits for good.
fn fill_standard_error() {
    let mut ends = [0; 2];
    // SAFETY: room for two numbers; then numbers, and a buffer as long as is said.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        libc::fcntl(ends[1], libc::F_SETFL, libc::O_NONBLOCK);
        while libc::write(ends[1], [0_u8; 512].as_ptr().cast(), 512) > 0 {}
        libc::fcntl(ends[1], libc::F_SETFL, 0);
        assert_eq!(libc::dup2(ends[1], libc::STDERR_FILENO), libc::STDERR_FILENO);
    }
}

fn unchecked_by_c(library: &Blosc) {
    let data = bytes();
    let chunk = chunk(library);
    assert_eq!(library.chunk(5, 1, 0, &data, 110_000), Err(-10));
    assert_eq!(library.chunk_ctx(5, 1, 0, &data, 110_000, "lz4", 0, 1), Err(-10));
    assert_eq!(library.items(&chunk, 5, -6, 100), Err(-1));
    assert_eq!(library.items(&chunk, c_int::MAX, c_int::MAX, 100), Err(-1));
    let mut longer = chunk.clone();
    longer[12..16].copy_from_slice(&i32::MAX.to_le_bytes());
    assert_eq!(library.data(&longer, 100_000), Err(-1));
    // C writes behind such an output, and fails or not for such counts.
    assert_eq!(library.chunk(5, 1, 4, &data_sets()[2], 16), Err(0));
    for count in [0, -1, 257, 256] {
        // SAFETY: takes a number.
        unsafe { (library.set_nthreads)(count) };
        assert_eq!(library.chunk(5, 1, 4, &data, 110_000).as_ref(), Ok(&chunk));
    }
    let mut negative = chunk;
    negative[4..8].copy_from_slice(&[255; 4]);
    assert_eq!(library.data(&negative, 100_000), Err(-1));
}

fn null_everywhere(library: &Blosc) {
    let (data, chunk) = (bytes(), chunk(library));
    let (src, out) = (data.as_ptr().cast(), null_mut());
    let mut place = [0_u8; 200];
    // SAFETY: NULL is never followed, and all else is as long as is said.
    unsafe {
        assert_eq!((library.compress)(5, 1, 4, 100, null(), place.as_mut_ptr().cast(), 200), -1);
        assert_eq!((library.compress)(5, 1, 4, 100_000, src, out, 200_000), -1);
        assert_eq!((library.compress)(5, 1, 4, 100_000, src, data.as_ptr().cast_mut().cast(), 100_016), -1);
        let room = place.as_mut_ptr().cast();
        assert_eq!((library.compress_ctx)(5, 1, 4, 100, src, room, 200, null(), 0, 1), -5);
        assert_eq!((library.decompress)(null(), out, 100), -1);
        assert_eq!((library.decompress)(chunk.as_ptr().cast(), out, 100_000), -1);
        assert_eq!((library.decompress_ctx)(chunk.as_ptr().cast(), out, usize::MAX, 1), -1);
        assert_eq!((library.getitem)(null(), 0, 1, out), -1);
        assert_eq!((library.getitem)(chunk.as_ptr().cast(), 0, 1, out), -1);
        assert_eq!((library.compname_to_compcode)(null()), -1);
        assert_eq!((library.compcode_to_compname)(1, null_mut()), 1);
        assert_eq!((library.get_complib_info)(null(), null_mut(), null_mut()), -1);
        assert_eq!((library.get_complib_info)(c"lz4".as_ptr(), null_mut(), null_mut()), 1);
        assert_eq!((library.cbuffer_validate)(null(), 100, null_mut()), -1);
        (library.cbuffer_sizes)(null(), null_mut(), null_mut(), null_mut());
        (library.cbuffer_sizes)(chunk.as_ptr().cast(), null_mut(), null_mut(), null_mut());
        (library.cbuffer_metainfo)(null(), null_mut(), null_mut());
        (library.cbuffer_versions)(null(), null_mut(), null_mut());
        assert!((library.cbuffer_complib)(null()).is_null());
    }
}
