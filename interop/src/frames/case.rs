//! A frame and what it should hold, changed together.

use super::formula::{bytes_of, pattern, ramp, to_hex};
use blosc_oxide::{FrameEdit, Special};
use std::fs;
use std::path::{Path, PathBuf};
use testkit::serde_json::{Map, Value, json};

/// What chunks hold unless a case is about something else.
pub(super) const CHUNK: usize = 2000;

pub(super) struct Case {
    pub(super) frame: FrameEdit,
    pub(super) note: Value,
}

/// Bytes as msgpack, which is what Python expects in a metalayer.
pub(crate) fn packed(content: &[u8]) -> Vec<u8> {
    let len = u8::try_from(content.len()).expect("a short content");
    [&[0xc4, len], content].concat()
}

impl Case {
    pub(super) fn new(frame: FrameEdit, path: &Path) -> Self {
        let note = json!({"path": path.to_str().expect("UTF-8"), "chunks": [], "meta": {}, "vlmeta": {},
            "can_extend": true, "only_meta": false});
        Self { frame, note }
    }

    pub(super) fn chunks(&mut self) -> &mut Vec<Value> {
        self.note["chunks"].as_array_mut().expect("a list")
    }

    fn layers(&mut self, kind: &str) -> &mut Map<String, Value> {
        self.note[kind].as_object_mut().expect("a map")
    }

    pub(super) fn append(&mut self, number: usize, nbytes: usize) {
        let formula = ramp(number, nbytes);
        self.frame.append(&bytes_of(&formula)).expect("append");
        self.chunks().push(formula);
    }

    pub(super) fn append_many(&mut self, numbers: impl IntoIterator<Item = usize>) {
        numbers.into_iter().for_each(|number| self.append(number, CHUNK));
    }

    pub(super) fn append_vlblocks(&mut self, blocks: &[Value]) {
        let contents: Vec<Vec<u8>> = blocks.iter().map(bytes_of).collect();
        self.frame.append_vlblocks(&contents.iter().map(Vec::as_slice).collect::<Vec<_>>()).expect("append");
        self.chunks().push(json!({"blocks": blocks}));
    }

    pub(super) fn update(&mut self, index: usize, number: usize, nbytes: usize) {
        self.update_to(index, ramp(number, nbytes));
    }

    pub(super) fn update_to(&mut self, index: usize, formula: Value) {
        self.frame.update(index, &bytes_of(&formula)).expect("update");
        self.chunks()[index] = formula;
    }

    pub(super) fn insert(&mut self, index: usize, number: usize, nbytes: usize) {
        let formula = ramp(number, nbytes);
        self.frame.insert(index, &bytes_of(&formula)).expect("insert");
        self.chunks().insert(index, formula);
    }

    pub(super) fn delete(&mut self, index: usize) {
        self.frame.delete(index).expect("delete");
        self.chunks().remove(index);
    }

    pub(super) fn reorder(&mut self, order: &[usize]) {
        self.frame.reorder(order).expect("reorder");
        let old = self.chunks().clone();
        *self.chunks() = order.iter().map(|&from| old[from].clone()).collect();
    }

    pub(super) fn reverse(&mut self) {
        let order: Vec<usize> = (0..self.chunks().len()).rev().collect();
        self.reorder(&order);
    }

    /// Overwrites a part that reaches over chunks of one size.
    pub(super) fn write(&mut self, start: usize, data: &[u8]) {
        self.frame.write(start as u64, data).expect("write");
        let mut all: Vec<u8> = self.chunks().iter().flat_map(bytes_of).collect();
        all[start..start + data.len()].copy_from_slice(data);
        let touched = start / CHUNK..=(start + data.len() - 1) / CHUNK;
        for (index, chunk) in self.chunks().iter_mut().enumerate() {
            if touched.contains(&index) {
                let bytes = &all[index * CHUNK..all.len().min((index + 1) * CHUNK)];
                *chunk = pattern(bytes, bytes.len());
            }
        }
    }

    pub(super) fn fill(&mut self, special: Special, value: &[u8], count: usize) {
        let nbytes = (count * CHUNK) as u64;
        match special {
            Special::Value => self.frame.fill_value(value, nbytes, CHUNK).expect("fill"),
            _ => self.frame.fill(special, nbytes, CHUNK).expect("fill"),
        }
        let mut formula = pattern(value, CHUNK);
        // Others leave anything in what was never written.
        formula["uninit"] = (special == Special::Uninit).into();
        self.chunks().extend(std::iter::repeat_n(formula, count));
    }

    pub(super) fn set_meta(&mut self, name: &str, content: &[u8]) {
        let layers = self.frame.metalayers_mut();
        let is_there = layers.get(name).is_some();
        let set = if is_there { layers.update(name, packed(content)) } else { layers.add(name, packed(content)) };
        set.expect("a metalayer");
        self.layers("meta").insert(name.to_owned(), to_hex(content).into());
    }

    pub(super) fn remove_meta(&mut self, name: &str) {
        self.frame.metalayers_mut().remove(name).expect("a metalayer");
        self.layers("meta").remove(name);
    }

    pub(super) fn set_vlmeta(&mut self, name: &str, content: &[u8]) {
        let layers = self.frame.vlmetalayers_mut();
        let is_there = layers.names().any(|other| other == name);
        let set = if is_there { layers.update(name, &packed(content)) } else { layers.add(name, &packed(content)) };
        set.expect("a metalayer");
        self.layers("vlmeta").insert(name.to_owned(), to_hex(content).into());
    }

    pub(super) fn remove_vlmeta(&mut self, name: &str) {
        self.frame.vlmetalayers_mut().remove(name).expect("a metalayer");
        self.layers("vlmeta").remove(name);
    }

    /// Goes on with a copy of the frame in another.
    pub(super) fn copy_to(&mut self, mut target: FrameEdit, path: &Path) {
        self.frame.copy_to(&mut target).expect("a copy");
        self.frame = target;
        self.note["path"] = path.to_str().expect("UTF-8").into();
    }

    pub(super) fn commit(&mut self) {
        self.frame.checkpoint().expect("commit");
    }

    pub(super) fn path(&self) -> PathBuf {
        self.note["path"].as_str().expect("a path").into()
    }

    /// Commits, and writes down what the frame holds.
    pub(super) fn finish(mut self) -> FrameEdit {
        self.commit();
        let frame = &self.frame;
        let is_variable = frame.nchunks() > 0 && frame.chunksize().is_none();
        let kept = json!({"is_variable": is_variable, "vlblocks": frame.has_vlblocks(), "typesize": frame.typesize(),
            "codec": frame.codec().to_string(), "level": frame.level()});
        let note = self.note.as_object_mut().expect("a map");
        note.extend(kept.as_object().expect("a map").clone());
        fs::write(self.path().with_extension("json"), self.note.to_string()).expect("a note can be written");
        self.frame
    }
}
