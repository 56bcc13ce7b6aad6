//! Handles that change one frame with locking wait for each other, and lose nothing.

use blosc_oxide::{
    ArrayOptions, ErrorKind, Frame, FrameEdit, FrameLayout, FrameOptions, Location, NdArray, Options, Result, Special,
    Threads, storage::Durability,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LAYOUTS: [FrameLayout; 2] = [FrameLayout::Contiguous, FrameLayout::Sparse];
const A_MOMENT: Duration = Duration::from_millis(30);

/// A directory that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("blosc-oxide-lock-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn frame(&self, layout: FrameLayout) -> PathBuf {
        self.0.join(format!("{layout:?}.b2frame"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options(layout: FrameLayout) -> FrameOptions {
    FrameOptions::new(Options::new(1).with_threads(Threads::serial()))
        .with_layout(layout)
        .with_durability(Durability::None)
        .with_locking(true)
}

fn impatient(layout: FrameLayout) -> FrameOptions {
    options(layout).with_lock_timeout(A_MOMENT)
}

#[expect(clippy::host_endian_bytes, reason = "the processes of one machine share it")]
fn counter(frame: &Path) -> u64 {
    let path = if frame.is_dir() { frame.join(".b2lock") } else { frame.with_extension("b2frame.b2lock") };
    let bytes = std::fs::read(path).unwrap();
    assert_eq!((bytes.len(), &bytes[..8]), (16, &[0; 8][..]));
    u64::from_ne_bytes(bytes[8..].try_into().unwrap())
}

/// Appends a chunk and commits it.
fn append(frame: &Frame, data: &[u8]) -> Frame {
    let mut edit = frame.edit().unwrap();
    edit.append(data).unwrap();
    edit.commit().unwrap()
}

#[test]
fn two_writers_take_turns() {
    let scratch = Scratch::new("turns");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut one = Frame::create(&path, options(layout)).unwrap().commit().unwrap();
        let mut other = Frame::open_with(&path, &options(layout).opening()).unwrap();
        for round in 0..20 {
            let before = counter(&path);
            one = append(&one, &[round; 100]);
            assert_eq!(counter(&path), before + 1);
            let mut edit = other.edit().unwrap();
            edit.append(&[100 + round; 100]).unwrap();
            edit.append(&[200 + round; 100]).unwrap();
            other = edit.commit().unwrap();
            assert_eq!(other.nchunks(), 3 * (usize::from(round) + 1));
        }
        one.refresh().unwrap();
        let all: Vec<u8> = (0..20).flat_map(|round| [round, 100 + round, 200 + round]).collect();
        assert!(one.chunks().map(Result::unwrap).eq(all.iter().map(|&byte| vec![byte; 100])), "{layout:?}");
        assert!(one.verify().unwrap().is_good());
    }
}

/// Data that comes only after another handle has tried to append to the frame.
struct Interrupting {
    path: PathBuf,
    layout: FrameLayout,
    bytes: &'static [u8],
}

impl std::io::Read for Interrupting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let frame = Frame::open_with(&self.path, &impatient(self.layout).opening());
        assert_eq!(frame.and_then(|frame| frame.edit()).unwrap_err().kind(), ErrorKind::Locked);
        self.bytes.read(buffer)
    }
}

#[test]
fn nobody_changes_the_last_chunk_while_it_is_filled_up() {
    let scratch = Scratch::new("filled");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut frame = Frame::create(&path, options(layout)).unwrap();
        frame.extend_from(&[1; 150][..], 100).unwrap();
        frame.checkpoint().unwrap();
        let data = Interrupting { path: path.clone(), layout, bytes: &[2; 20] };
        frame.extend_from(data, 100).unwrap();
        frame.checkpoint().unwrap();
        let expected = [vec![1; 150], vec![2; 20]].concat();
        assert_eq!(frame.bytes(0..frame.nbytes()).unwrap(), expected, "{layout:?}");
    }
}

#[test]
fn many_writers_lose_nothing() {
    let scratch = Scratch::new("many");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        Frame::create(&path, options(layout)).unwrap().commit().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                let path = &path;
                scope.spawn(move || {
                    let frame = Frame::open_with(path, &options(layout).opening()).unwrap();
                    for rounds in (0..25).collect::<Vec<u8>>().chunks(3) {
                        let mut edit = frame.edit().unwrap();
                        rounds.iter().for_each(|&round| edit.append(&[writer, round]).unwrap());
                        if rounds[0] % 4 == 0 {
                            edit.compact().unwrap();
                        }
                        edit.commit().unwrap();
                    }
                });
            }
        });
        let frame = Frame::open_with(&path, &options(layout).opening()).unwrap();
        assert!(frame.verify().unwrap().is_good());
        let chunks: Vec<Vec<u8>> = frame.chunks().map(Result::unwrap).collect();
        for writer in 0..4 {
            let rounds: Vec<u8> = chunks.iter().filter(|chunk| chunk[0] == writer).map(|chunk| chunk[1]).collect();
            assert_eq!(rounds, (0..25).collect::<Vec<u8>>(), "{layout:?}, writer {writer}");
        }
    }
}

#[test]
fn who_changes_the_frame_keeps_others_out_until_the_commit() {
    let scratch = Scratch::new("wait");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut one = Frame::create(&path, options(layout)).unwrap().commit().unwrap();
        let mut other = Frame::open_with(&path, &impatient(layout).opening()).unwrap();
        append(&one, b"one");
        let edit = one.edit().unwrap();
        let refused = [
            other.edit().map(drop),
            other.lock_shared().map(drop),
            other.refresh().map(drop),
            Frame::open_with(&path, &impatient(layout).opening()).map(drop),
        ];
        for result in refused {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Locked);
        }
        drop(edit);
        assert_eq!(append(&other, b"two").nchunks(), 2);
        one.refresh().unwrap();
        assert_eq!(one.bytes(0..6).unwrap(), b"onetwo");
    }
}

#[test]
fn who_waits_for_the_lock_of_a_new_frame_is_told_where_it_is() {
    let scratch = Scratch::new("named");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let one = Frame::create(&path, impatient(layout)).unwrap().commit().unwrap();
        let held = Frame::open_with(&path, &impatient(layout).opening()).unwrap().lock_shared().unwrap();
        let error = one.edit().unwrap_err();
        drop(held);
        let beside =
            if layout == FrameLayout::Sparse { path.join(".b2lock") } else { path.with_extension("b2frame.b2lock") };
        assert!(error.to_string().contains(beside.to_str().unwrap()), "{layout:?}: {error}");
    }
}

#[test]
fn an_edit_that_fails_to_begin_leaves_no_lock() {
    let scratch = Scratch::new("refused");
    let layout = FrameLayout::Contiguous;
    let path = scratch.frame(layout);
    let one = Frame::create(&path, options(layout)).unwrap().commit().unwrap();
    let other = Frame::open_with(&path, &impatient(layout).opening()).unwrap();
    // Not an array.
    assert!(NdArray::open_with(&path, &options(layout).opening()).is_err());
    let edit = one.edit().unwrap();
    assert!(other.edit().is_err());
    drop(edit);
    append(&other, b"fine");
    let mut edit = one.edit().unwrap();
    assert_eq!(edit.nchunks(), 1);
    assert!(edit.delete(7).is_err());
    assert!(other.edit().is_err());
    edit.abort();
    append(&other, b"fine again");
}

#[test]
fn an_edit_that_has_nothing_to_do_leaves_no_lock() {
    let scratch = Scratch::new("nothing");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut edit = Frame::create(&path, options(layout)).unwrap();
        edit.extend_from(&[1; 150][..], 100).unwrap();
        let one = edit.commit().unwrap();
        let other = Frame::open_with(&path, &impatient(layout).opening()).unwrap();
        let changes: [fn(&mut FrameEdit) -> Result<()>; 3] = [
            |frame| frame.extend_from(&[][..], 100).map(|_| ()),
            |frame| frame.write(0, b""),
            |frame| frame.fill(Special::Zeros, 0, 100),
        ];
        for change in changes {
            let mut edit = one.edit().unwrap();
            change(&mut edit).unwrap();
            assert_eq!(other.edit().unwrap_err().kind(), ErrorKind::Locked);
            edit.commit().unwrap();
            append(&other, b"fine");
        }
    }
}

#[test]
fn an_array_that_nothing_is_appended_to_keeps_no_lock() {
    let scratch = Scratch::new("array");
    let path = scratch.frame(FrameLayout::Contiguous);
    let open = || NdArray::open_with(&path, &impatient(FrameLayout::Contiguous).opening()).unwrap();
    let array = ArrayOptions::new(&[3], Options::new(1)).with_chunks(&[2]);
    NdArray::create_with_data(path.as_path(), &array, b"abc").unwrap();
    let (mut one, other) = (open(), open());
    let mut edit = one.edit().unwrap();
    edit.append(0, b"").unwrap();
    edit.resize(&[3]).unwrap();
    edit.commit().unwrap();
    let mut edit = other.edit().unwrap();
    edit.append(0, b"d").unwrap();
    edit.commit().unwrap();
    one.refresh().unwrap();
    assert_eq!(one.to_vec().unwrap(), b"abcd");
}

#[test]
fn readers_share_the_frame() {
    let scratch = Scratch::new("share");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut edit = Frame::create(&path, impatient(layout)).unwrap();
        edit.append(b"first").unwrap();
        let writer = edit.commit().unwrap();
        let mut readers = [(); 3].map(|()| Frame::open_with(&path, &impatient(layout).opening()).unwrap());
        let locks: Vec<_> = readers.iter().map(|reader| reader.lock_shared().unwrap()).collect();
        assert_eq!(writer.edit().unwrap_err().kind(), ErrorKind::Locked);
        for reader in &mut readers {
            assert!(!reader.refresh().unwrap());
        }
        drop(locks);
        let before = counter(&path);
        append(&writer, b"secon");
        for reader in &mut readers {
            assert!(reader.refresh().unwrap());
            assert_eq!(reader.bytes(0..10).unwrap(), b"firstsecon");
        }
        assert_eq!(counter(&path), before + 1, "readers do not count");
    }
}

#[test]
fn locking_needs_a_path() {
    let layout = FrameLayout::Contiguous;
    let refused = [
        Frame::create(blosc_oxide::storage::MemoryStorage::default(), options(layout)).map(drop),
        Frame::create(blosc_oxide::storage::MemoryDirectory::new(), options(layout)).map(drop),
        Frame::open_with(Location::source(blosc_oxide::storage::MemoryStorage::default()), &options(layout).opening())
            .map(drop),
    ];
    for result in refused {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    let frame =
        Frame::create(blosc_oxide::storage::MemoryStorage::default(), Options::new(1)).unwrap().commit().unwrap();
    assert_eq!(frame.lock_shared().unwrap_err().kind(), ErrorKind::InvalidArgument);
}
