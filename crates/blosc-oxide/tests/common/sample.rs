//! Crash images in files, for other readers.

use super::disk::{self, FILE};
use super::recording::Recording;
use blosc_oxide::FrameLayout;
use std::fs;
use std::path::PathBuf;
use testkit::Rng;
use testkit::serde_json::{Value, json};
use testkit::storage::Image;

/// How a crash has left the header.
const WHOLE: &str = "whole";
/// A header of several sectors, of which some are old and some new: only our reader can tell.
const TORN_AT_SECTORS: &str = "torn at sectors";
/// What no disk does.
const TORN_AT_BYTES: &str = "torn at bytes";

/// A few of many images, each with the same chance.
struct Choice {
    rng: Rng,
    size: usize,
    offered: usize,
    chosen: Vec<(usize, Image)>,
}

impl Choice {
    fn new(size: usize) -> Self {
        Self { rng: Rng::new(7), size, offered: 0, chosen: Vec::new() }
    }

    fn offer(&mut self, calls: usize, image: &Image) {
        self.offered += 1;
        let place = if self.chosen.len() < self.size { self.chosen.len() } else { self.rng.below(self.offered) };
        match self.chosen.get_mut(place) {
            Some(old) => *old = (calls, image.clone()),
            None if place < self.size => self.chosen.push((calls, image.clone())),
            None => {}
        }
    }
}

/// A directory with images and an index of them.
pub struct Sample {
    directory: PathBuf,
    rows: Vec<Value>,
}

impl Sample {
    pub fn new(directory: PathBuf) -> Self {
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        Self { directory, rows: Vec::new() }
    }

    /// Adds some of what crashes could leave: of each kind of header.
    pub fn add_some_of(&mut self, recording: &Recording) {
        let [mut whole, mut at_sectors, mut at_bytes] = [2, 1, 1].map(Choice::new);
        // Frames with slots have a hundred times as many images.
        let one_in = if recording.has_slots { 97 } else { 1 };
        recording.log.power_cuts_after(0, one_in, 4, &mut |calls, image| {
            let choice = if recording.has_whole_header(image) { &mut whole } else { &mut at_sectors };
            choice.offer(calls, image);
        });
        recording.log.torn_starts(disk::header_file(recording.layout), &mut |calls, image| {
            if !recording.has_whole_header(image) {
                at_bytes.offer(calls, image);
            }
        });
        for (header, choice) in [(WHOLE, whole), (TORN_AT_SECTORS, at_sectors), (TORN_AT_BYTES, at_bytes)] {
            choice.chosen.iter().for_each(|(calls, image)| self.add(recording, header, *calls, image));
        }
    }

    fn add(&mut self, recording: &Recording, header: &str, calls: usize, image: &Image) {
        let name = format!("{:04}.b2frame", self.rows.len());
        let path = self.directory.join(&name);
        match recording.layout {
            FrameLayout::Contiguous => fs::write(path, image.get(FILE).unwrap_or_default()).unwrap(),
            _ => {
                fs::create_dir(&path).unwrap();
                image.iter().for_each(|(name, bytes)| fs::write(path.join(name), bytes).unwrap());
            }
        }
        let contents = &recording.contents[recording.allowed(calls)];
        let allowed: Vec<String> = contents.iter().flatten().map(|content| content.digest()).collect();
        self.rows.push(json!({
            "name": name,
            "what": recording.name,
            "calls": calls,
            "header": header,
            "may_be_missing": contents.iter().any(Option::is_none),
            "allowed": allowed,
        }));
    }

    pub fn finish(self) {
        fs::write(self.directory.join("index.json"), Value::from(self.rows).to_string()).unwrap();
    }
}
