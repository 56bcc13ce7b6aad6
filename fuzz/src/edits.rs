//! Edits of a frame against a plain model of it, on a storage that fails.

use crate::content::Content;
use crate::disk;
use crate::input::Input;
use blosc_oxide::{ErrorKind, FrameEdit, FrameLayout, Result, Special, storage::Durability};
use testkit::storage::{Disk, Fault, FaultKind};

const CHUNK: usize = 60;
/// Frames stay small, or an input would take too long.
const MOST: usize = 12;
const NAMES: [&str; 4] = ["a", "name", "unit", "a name of thirty-one characters"];

struct Trial<'a> {
    input: Input<'a>,
    disk: Disk,
    layout: FrameLayout,
    frame: Option<FrameEdit>,
    /// What the frame should be.
    model: Content,
    /// What a reader of the disk should find.
    committed: Content,
}

/// Does what the input says, and compares after each step.
pub fn frame(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let layout = if input.is_set() { FrameLayout::Contiguous } else { FrameLayout::Sparse };
    let disk = disk::empty(layout);
    let options = disk::options().with_checksums(input.is_set()).with_durability(Durability::None);
    let frame = disk::create(&disk, layout, options).expect("the disk is good");
    let (model, committed) = (Content::default(), Content::default());
    let mut trial = Trial { input, disk, layout, frame: Some(frame), model, committed };
    for _ in 0..40 {
        if trial.input.is_empty() {
            break;
        }
        trial.step();
    }
    trial.reopen();
}

impl Trial<'_> {
    fn step(&mut self) {
        match self.input.below(20) {
            0 => self.reopen(),
            1 => self.fault(),
            2..=5 => self.commit(),
            _ => self.edit(),
        }
    }

    fn frame(&mut self) -> &mut FrameEdit {
        self.frame.as_mut().expect("a frame is always open between steps")
    }

    /// Commits, closes the frame and opens it again.
    fn reopen(&mut self) {
        if let Some(frame) = self.frame.take() {
            frame.commit().expect("the disk is good");
        }
        self.committed = self.model.clone();
        self.check_disk();
        self.open();
    }

    fn open(&mut self) {
        let frame = disk::edit(&self.disk, self.layout, Durability::None);
        self.frame = Some(frame.expect("what was committed can be opened"));
    }

    fn commit(&mut self) {
        let result = if self.input.below(5) == 0 { self.frame().compact() } else { self.frame().checkpoint() };
        result.expect("the disk is good");
        self.committed = self.model.clone();
        self.check_disk();
    }

    fn check_disk(&self) {
        let frame = disk::open(&Disk::with_image(self.disk.image()), self.layout).expect("a commit can be opened");
        assert_eq!(Content::of(&frame).expect("a commit can be read"), self.committed);
    }

    fn edit(&mut self) {
        let before = self.model.clone();
        let result = self.change();
        if let Err(error) = result {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            self.model = before;
        }
        let found = Content::of(self.frame()).expect("a frame can be read between edits");
        assert_eq!(found, self.model);
    }

    /// The next edit meets a disk that fails: nothing that was committed is lost.
    fn fault(&mut self) {
        let kind = self.input.choose(&[FaultKind::Error, FaultKind::Short, FaultKind::Full]);
        let after = self.input.below(12);
        self.disk.set_fault(Fault { after, kind });
        let before = self.model.clone();
        let result = self.change().and_then(|()| self.frame().checkpoint().map(drop));
        // A file that cannot be removed after a commit is no failure; any other change that fails
        // is, and the last one.
        if self.disk.has_failed_change() && result.is_err() {
            assert!(self.frame().append(&[1; CHUNK]).is_err(), "goes on after {result:?}");
        }
        if result.is_ok() {
            self.committed = self.model.clone();
        }
        let frame = self.frame.take();
        self.disk = Disk::with_image(self.disk.image());
        let reader = disk::open(&self.disk, self.layout).expect("what was committed can be opened");
        let found = Content::of(&reader).expect("what was committed can be read");
        // A commit that was reported is there; one whose last sync failed may have come through.
        let may_be = if result.is_ok() { vec![&self.model] } else { vec![&self.committed, &before, &self.model] };
        assert!(may_be.contains(&&found), "{result:?}: {found:?} is none of {may_be:?}");
        // The old handle is for a disk that nobody looks at any more.
        drop(frame);
        (self.model, self.committed) = (found.clone(), found);
        self.open();
    }

    fn data(&mut self) -> Vec<u8> {
        let items = match self.input.below(6) {
            0 => 1 + self.input.below(CHUNK),
            1 => 2 * CHUNK / 4,
            _ => CHUNK / 4,
        };
        self.input.data(4 * items)
    }

    /// An edit of both; the model is as it will be even if the frame refuses.
    fn change(&mut self) -> Result<()> {
        let count = self.model.chunks.len();
        let is_full = count >= MOST;
        match self.input.below(12) {
            0 | 1 if !is_full => {
                let data = self.data();
                self.model.chunks.push(data.clone());
                self.frame().append(&data)
            }
            2 if !is_full => {
                let (index, data) = (self.input.below(count + 1), self.data());
                self.model.chunks.insert(index, data.clone());
                self.frame().insert(index, &data)
            }
            3 if !is_full => {
                self.model.chunks.push(vec![0; CHUNK]);
                self.frame().fill(Special::Zeros, CHUNK as u64, CHUNK)
            }
            4 | 5 if count > 0 => {
                let (index, data) = (self.input.below(count), self.data());
                self.model.chunks[index] = data.clone();
                self.frame().update(index, &data)
            }
            6 if count > 0 => {
                let index = self.input.below(count);
                self.model.chunks.remove(index);
                self.frame().delete(index)
            }
            7 => self.reorder(),
            8 if count > 0 => self.write(),
            9 => self.metalayer(),
            _ => self.vlmetalayer(),
        }
    }

    fn reorder(&mut self) -> Result<()> {
        let mut order: Vec<usize> = (0..self.model.chunks.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.input.below(at + 1));
        }
        self.model.chunks = order.iter().map(|&index| self.model.chunks[index].clone()).collect();
        self.frame().reorder(&order)
    }

    fn write(&mut self) -> Result<()> {
        let nbytes = self.model.nbytes();
        let start = self.input.below(nbytes);
        let len = 1 + self.input.below(nbytes - start);
        let data = self.input.data(len);
        self.model.write(start, &data);
        self.frame().write(start as u64, &data)
    }

    fn metalayer(&mut self) -> Result<()> {
        let name = self.input.choose(&NAMES);
        let len = self.input.below(200);
        let content = self.input.data(len);
        let is_removed = self.input.below(3) == 0;
        change_layer(&mut self.model.metalayers, name, &content, is_removed);
        let layers = self.frame().metalayers_mut();
        match layers.get(name) {
            Some(_) if is_removed => layers.remove(name),
            Some(_) => layers.update(name, content),
            None if is_removed => Ok(()),
            None => layers.add(name, content),
        }
    }

    fn vlmetalayer(&mut self) -> Result<()> {
        let name = self.input.choose(&NAMES);
        let len = self.input.below(400);
        let content = self.input.data(len);
        let is_removed = self.input.below(3) == 0;
        change_layer(&mut self.model.vlmetalayers, name, &content, is_removed);
        let layers = self.frame().vlmetalayers_mut();
        match layers.get(name)? {
            Some(_) if is_removed => layers.remove(name),
            Some(_) => layers.update(name, &content),
            None if is_removed => Ok(()),
            None => layers.add(name, &content),
        }
    }
}

fn change_layer(layers: &mut Vec<(String, Vec<u8>)>, name: &str, content: &[u8], is_removed: bool) {
    let position = layers.iter().position(|(known, _)| known == name);
    match position {
        Some(position) if is_removed => drop(layers.remove(position)),
        Some(position) => layers[position].1 = content.to_vec(),
        None if is_removed => {}
        None => layers.push((name.to_owned(), content.to_vec())),
    }
}
