//! Handles that change one frame with locking wait for each other, and lose nothing.

use blosc_oxide::{
    ArrayOptions, ErrorKind, Frame, FrameLayout, FrameOptions, NdArray, Options, Result, Special, Threads,
    storage::Durability,
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

#[test]
fn two_writers_take_turns() {
    let scratch = Scratch::new("turns");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut one = Frame::create(&path, options(layout)).unwrap();
        let mut other = Frame::open_writable_with(&path, options(layout)).unwrap();
        for round in 0..20 {
            let before = counter(&path);
            one.append(&[round; 100]).unwrap();
            one.commit().unwrap();
            assert_eq!(counter(&path), before + 1);
            other.append(&[100 + round; 100]).unwrap();
            other.append(&[200 + round; 100]).unwrap();
            other.commit().unwrap();
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
        let mut other = Frame::open_writable_with(&self.path, impatient(self.layout));
        let result = other.as_mut().map_or(Ok(()), |other| other.append(&[9; 100]));
        drop(result);
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
        frame.commit().unwrap();
        let data = Interrupting { path: path.clone(), layout, bytes: &[2; 20] };
        frame.extend_from(data, 100).unwrap();
        frame.commit().unwrap();
        let expected = [vec![1; 150], vec![2; 20]].concat();
        assert_eq!(frame.bytes(0..frame.nbytes()).unwrap(), expected, "{layout:?}");
    }
}

#[test]
fn many_writers_lose_nothing() {
    let scratch = Scratch::new("many");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        drop(Frame::create(&path, options(layout)).unwrap());
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                let path = &path;
                scope.spawn(move || {
                    let mut frame = Frame::open_writable_with(path, options(layout)).unwrap();
                    for round in 0..25 {
                        frame.append(&[writer, round]).unwrap();
                        if round % 3 == 0 {
                            frame.commit().unwrap();
                        }
                        if round % 10 == 0 {
                            frame.compact().unwrap();
                        }
                    }
                });
            }
        });
        let mut frame = Frame::open_with(&path, options(layout)).unwrap();
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
        let mut one = Frame::create(&path, options(layout)).unwrap();
        let mut other = Frame::open_writable_with(&path, impatient(layout)).unwrap();
        one.append(b"one").unwrap();
        let refused = [
            other.append(b"two"),
            other.lock(),
            other.lock_shared(),
            other.refresh().map(|_| ()),
            Frame::open_with(&path, impatient(layout)).map(|_| ()),
            other.compact(),
        ];
        for result in refused {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Locked);
        }
        one.commit().unwrap();
        other.append(b"two").unwrap();
        assert_eq!(other.nchunks(), 2);
        drop(other);
        one.refresh().unwrap();
        assert_eq!(one.bytes(0..6).unwrap(), b"onetwo");
    }
}

#[test]
fn what_is_refused_leaves_no_lock() {
    let scratch = Scratch::new("refused");
    let layout = FrameLayout::Contiguous;
    let path = scratch.frame(layout);
    let mut one = Frame::create(&path, options(layout)).unwrap();
    let mut other = Frame::open_writable_with(&path, impatient(layout)).unwrap();
    assert!(one.append(b"").is_err());
    assert!(one.delete(7).is_err());
    other.append(b"fine").unwrap();
    other.commit().unwrap();
    // Unless it was asked for.
    one.lock().unwrap();
    assert_eq!(one.nchunks(), 1);
    assert!(one.delete(7).is_err());
    assert!(other.append(b"not now").is_err());
    one.unlock().unwrap();
    other.append(b"fine again").unwrap();
    assert_eq!(other.unlock().unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn an_edit_that_has_nothing_to_do_leaves_no_lock() {
    let scratch = Scratch::new("nothing");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut one = Frame::create(&path, options(layout)).unwrap();
        one.extend_from(&[1; 150][..], 100).unwrap();
        one.commit().unwrap();
        let mut other = Frame::open_writable_with(&path, impatient(layout)).unwrap();
        let edits: [fn(&mut Frame) -> Result<()>; 3] = [
            |frame| frame.extend_from(&[][..], 100).map(|_| ()),
            |frame| frame.write(0, b""),
            |frame| frame.fill(Special::Zeros, 0, 100),
        ];
        for edit in edits {
            edit(&mut one).unwrap();
            other.append(b"fine").unwrap();
            other.commit().unwrap();
        }
        // Unless it was asked for.
        one.lock().unwrap();
        one.extend_from(&[][..], 100).unwrap();
        assert_eq!(other.append(b"not now").unwrap_err().kind(), ErrorKind::Locked);
        one.unlock().unwrap();
        // Or there was something to commit before.
        one.append(b"more").unwrap();
        one.extend_from(&[][..], 100).unwrap();
        assert_eq!(other.append(b"not now").unwrap_err().kind(), ErrorKind::Locked);
    }
}

#[test]
fn an_array_that_nothing_is_appended_to_keeps_no_lock() {
    let scratch = Scratch::new("array");
    let path = scratch.frame(FrameLayout::Contiguous);
    let open = || NdArray::from_frame(Frame::open_writable_with(&path, impatient(FrameLayout::Contiguous)).unwrap());
    let array = ArrayOptions::new(&[3], Options::new(1)).with_chunks(&[2]);
    NdArray::create_with_data(path.as_path(), &array, b"abc").unwrap().commit().unwrap();
    let (mut one, mut other) = (open().unwrap(), open().unwrap());
    one.append(0, b"").unwrap();
    one.resize(&[3]).unwrap();
    other.append(0, b"d").unwrap();
    other.commit().unwrap();
    one.refresh().unwrap();
    assert_eq!(one.to_vec().unwrap(), b"abcd");
}

/// Metalayers are changed without the lock: what they were changed from may be gone by then.
#[test]
fn changes_of_an_old_state_are_refused() {
    let scratch = Scratch::new("conflict");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut one = Frame::create(&path, options(layout)).unwrap();
        let mut other = Frame::open_writable_with(&path, options(layout)).unwrap();
        one.vlmetalayers_mut().add("note", b"from one").unwrap();
        other.append(b"from other").unwrap();
        other.commit().unwrap();
        assert_eq!(one.append(b"more").unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(one.commit().unwrap_err().kind(), ErrorKind::Conflict);
        drop(one);
        other.lock().unwrap();
        other.vlmetalayers_mut().add("note", b"from other").unwrap();
        other.commit().unwrap();
        let frame = Frame::open_with(&path, options(layout)).unwrap();
        assert_eq!(frame.vlmetalayers().get("note").unwrap().unwrap(), b"from other");
        assert_eq!(frame.nchunks(), 1);
    }
}

#[test]
fn readers_share_the_frame() {
    let scratch = Scratch::new("share");
    for layout in LAYOUTS {
        let path = scratch.frame(layout);
        let mut writer = Frame::create(&path, impatient(layout)).unwrap();
        writer.append(b"first").unwrap();
        writer.commit().unwrap();
        let mut readers = [(); 3].map(|()| Frame::open_with(&path, impatient(layout)).unwrap());
        for reader in &mut readers {
            reader.lock_shared().unwrap();
        }
        assert_eq!(writer.append(b"second").unwrap_err().kind(), ErrorKind::Locked);
        for reader in &mut readers {
            assert!(!reader.refresh().unwrap());
            reader.unlock().unwrap();
            assert_eq!(reader.lock().unwrap_err().kind(), ErrorKind::InvalidArgument);
            assert_eq!(reader.append(b"no").unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        let before = counter(&path);
        writer.append(b"secon").unwrap();
        writer.commit().unwrap();
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
        Frame::create_in(blosc_oxide::storage::MemoryStorage::default(), options(layout)),
        Frame::create_in_directory(blosc_oxide::storage::MemoryDirectory::new(), options(layout)),
        Frame::open_at(blosc_oxide::storage::MemoryStorage::default(), 0, options(layout)),
    ];
    for result in refused {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    let mut frame = Frame::create_in(blosc_oxide::storage::MemoryStorage::default(), Options::new(1)).unwrap();
    frame.lock().unwrap();
    frame.unlock().unwrap();
    assert_eq!(frame.lock_shared().unwrap_err().kind(), ErrorKind::InvalidArgument);
}
