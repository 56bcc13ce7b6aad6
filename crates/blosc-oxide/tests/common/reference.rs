//! What C-Blosc2 does to a contiguous frame: it writes index and trailer where it thinks that the
//! chunks end, over whatever is there, changes the header in place, and cuts the file behind the
//! trailer.

use super::disk::FILE;
use blosc_oxide::{Compressor, Decompressor, Options, Threads};
use testkit::storage::{Disk, DiskFile};

const HEADER_LEN_AT: usize = 11;
const FRAME_LEN_AT: usize = 16;
const NBYTES_AT: usize = 30;
const SECTION_LEN_AT: usize = 39;
const ZEROS: u64 = 1 << 63 | 1 << 56;
/// Length, type and fingerprint.
const TRAILER_END: usize = 23;

/// A frame as this program opens it, for one change.
pub struct Reference {
    file: DiskFile,
    header: Vec<u8>,
    nbytes: usize,
    /// Where the chunks end, counted from the end of the header.
    section: usize,
    entries: Vec<u64>,
    /// Names and contents, which are chunks.
    layers: Vec<(String, Vec<u8>)>,
}

impl Reference {
    pub fn open(disk: &Disk) -> Self {
        let file = disk.open(FILE).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_at(0, &mut bytes).unwrap();
        bytes.truncate(number(&bytes[FRAME_LEN_AT..FRAME_LEN_AT + 8]));
        let trailer_len = number(&bytes[bytes.len() - TRAILER_END + 1..][..4]);
        let trailer = bytes.split_off(bytes.len() - trailer_len);
        let header = bytes[..number(&bytes[HEADER_LEN_AT..HEADER_LEN_AT + 4])].to_vec();
        let section = number(&header[SECTION_LEN_AT..SECTION_LEN_AT + 8]);
        let index = &bytes[header.len() + section..];
        let entries = if index.is_empty() { Vec::new() } else { Decompressor::new().decompress(index).unwrap() };
        let entries = entries.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        let nbytes = number(&header[NBYTES_AT..NBYTES_AT + 8]);
        Self { file, header, nbytes, section, entries, layers: read_layers(&trailer) }
    }

    pub fn nchunks(&self) -> usize {
        self.entries.len()
    }

    pub fn append(mut self, data: &[u8]) {
        let entry = self.store(data);
        self.entries.push(entry);
        self.nbytes += data.len();
        self.finish();
    }

    pub fn insert(mut self, index: usize, data: &[u8]) {
        let entry = self.store(data);
        self.entries.insert(index, entry);
        self.nbytes += data.len();
        self.finish();
    }

    pub fn update(mut self, index: usize, data: &[u8]) {
        self.entries[index] = self.store(data);
        self.finish();
    }

    pub fn update_to_zeros(mut self, index: usize) {
        self.entries[index] = ZEROS;
        self.finish();
    }

    pub fn delete(mut self, index: usize, len: usize) {
        self.entries.remove(index);
        self.nbytes -= len;
        self.finish();
    }

    pub fn reverse(mut self) {
        self.entries.reverse();
        self.finish();
    }

    /// Leaves everything behind the header where it is, the fingerprint included.
    pub fn set_meta(mut self, old: &[u8], new: &[u8]) {
        let at = self.header.windows(old.len()).position(|window| window == old).unwrap();
        self.header[at..at + new.len()].copy_from_slice(new);
        self.file.write_at(0, &self.header).unwrap();
    }

    /// Leaves the index where it is; a new layer comes behind the others, the hashes of chunks
    /// included.
    pub fn set_vlmeta(mut self, name: &str, content: &[u8]) {
        let chunk = compress(content, 1);
        match self.layers.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = chunk,
            None => self.layers.push((name.to_owned(), chunk)),
        }
        self.finish();
    }

    pub fn remove_vlmeta(mut self, name: &str) {
        self.layers.retain(|(other, _)| other != name);
        self.finish();
    }

    fn store(&mut self, data: &[u8]) -> u64 {
        let chunk = compress(data, 4);
        let entry = self.section;
        self.file.write_at((self.header.len() + entry) as u64, &chunk).unwrap();
        self.section += chunk.len();
        entry as u64
    }

    fn finish(mut self) {
        let entries: Vec<u8> = self.entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let mut end = if entries.is_empty() { Vec::new() } else { compress(&entries, 8) };
        end.extend(write_layers(&self.layers));
        let start = self.header.len() + self.section;
        self.file.write_at(start as u64, &end).unwrap();
        self.file.set_len((start + end.len()) as u64).unwrap();
        let values = [(FRAME_LEN_AT, start + end.len()), (NBYTES_AT, self.nbytes), (SECTION_LEN_AT, self.section)];
        for (at, value) in values {
            self.header[at..at + 8].copy_from_slice(&(value as u64).to_be_bytes());
        }
        self.file.write_at(0, &self.header).unwrap();
    }
}

fn compress(data: &[u8], typesize: usize) -> Vec<u8> {
    Compressor::new(Options::new(typesize).with_threads(Threads::serial())).unwrap().compress(data).unwrap()
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

fn two_bytes(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap().to_be_bytes()
}

fn four_bytes(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_be_bytes()
}

fn read_layers(trailer: &[u8]) -> Vec<(String, Vec<u8>)> {
    // Array, version, array, length of the map, map.
    let count = number(&trailer[7..9]);
    let mut at = 9;
    let mut layers = Vec::new();
    for _ in 0..count {
        let len = usize::from(trailer[at] & 0x1f);
        let name = String::from_utf8(trailer[at + 1..at + 1 + len].to_vec()).unwrap();
        at += 1 + len;
        let content = number(&trailer[at + 1..at + 5]);
        at += 5;
        layers.push((name, trailer[content + 5..][..number(&trailer[content + 1..content + 5])].to_vec()));
    }
    layers
}

fn write_layers(layers: &[(String, Vec<u8>)]) -> Vec<u8> {
    let count = two_bytes(layers.len());
    let map_len: usize = 3 + layers.iter().map(|(name, _)| name.len() + 6).sum::<usize>();
    let mut trailer = vec![0x94, 1, 0x93, 0xcd];
    trailer.extend(two_bytes(map_len + 3));
    trailer.push(0xde);
    trailer.extend(count);
    let mut content_at = 6 + map_len + 3;
    for (name, content) in layers {
        trailer.push(0xa0 | u8::try_from(name.len()).unwrap());
        trailer.extend(name.as_bytes());
        trailer.push(0xd2);
        trailer.extend(four_bytes(content_at));
        content_at += 5 + content.len();
    }
    trailer.push(0xdc);
    trailer.extend(count);
    for (_, content) in layers {
        trailer.push(0xc6);
        trailer.extend(four_bytes(content.len()));
        trailer.extend(content);
    }
    trailer.push(0xce);
    trailer.extend(four_bytes(trailer.len() - 1 + TRAILER_END));
    trailer.push(0xd8);
    trailer.extend([0; 17]);
    trailer
}
