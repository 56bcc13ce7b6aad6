//! From data to records, which are a chunk and the checksum right after it.

use crate::bloscpack::batch;
use crate::bloscpack::format::checksum::Checksum;
use crate::chunk::{Compressor, Options};
use crate::error::Result;
use crate::exec::Threads;
use std::sync::Mutex;

/// Makes records of data, several at once, and keeps the memory for that. The same data give the
/// same records for any number of threads.
#[derive(Debug)]
pub(in crate::bloscpack) struct Packer {
    chunk_size: usize,
    checksum: Checksum,
    threads: Threads,
    workers: Vec<Mutex<Compressor>>,
    records: Vec<Vec<u8>>,
}

impl Packer {
    /// One for chunks of `chunk_size` bytes, which are compressed as `options` say.
    pub(in crate::bloscpack) fn new(
        options: &Options,
        threads: &Threads,
        chunk_size: usize,
        checksum: Checksum,
    ) -> Result<Self> {
        let at_once = batch::chunks_at_once(threads, chunk_size);
        let count = threads.workers(at_once, usize::MAX);
        // Threads work on a chunk each; only where there is just one chunk at a time they share its
        // blocks.
        let inner = if at_once > 1 { Threads::serial() } else { threads.clone() };
        let options = options.clone().with_threads(inner);
        let workers = (0..count).map(|_| Compressor::new(options.clone()).map(Mutex::new)).collect::<Result<_>>()?;
        Ok(Self { chunk_size, checksum, threads: threads.clone(), workers, records: vec![Vec::new(); at_once] })
    }

    /// How much data it takes at once.
    pub(in crate::bloscpack) fn batch_len(&self) -> usize {
        self.chunk_size * self.records.len()
    }

    pub(in crate::bloscpack) fn chunk_size(&self) -> usize {
        self.chunk_size
    }

    /// The records of `data`, which is no longer than [`batch_len`](Self::batch_len). All chunks
    /// but the last have the chunk size; no data is one empty chunk.
    pub(in crate::bloscpack) fn pack(&mut self, data: &[u8]) -> Result<&[Vec<u8>]> {
        let parts: Vec<&[u8]> = if data.is_empty() { vec![data] } else { data.chunks(self.chunk_size).collect() };
        let count = parts.len();
        let mut jobs: Vec<(&[u8], &mut Vec<u8>)> = parts.into_iter().zip(&mut self.records).collect();
        let checksum = self.checksum;
        batch::run(&self.threads, &self.workers, &mut jobs, data.len(), |compressor, (plain, record)| {
            pack_one(compressor, plain, record)?;
            checksum.append_to(record);
            Ok(())
        })?;
        Ok(&self.records[..count])
    }
}

fn pack_one(compressor: &mut Compressor, plain: &[u8], record: &mut Vec<u8>) -> Result<()> {
    record.resize(compressor.max_compressed_len(plain.len()), 0);
    let len = compressor.compress_into(plain, record)?;
    record.truncate(len);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Format;

    #[test]
    fn records_are_the_same_for_any_number_of_threads() {
        let data: Vec<u8> = (0..40_000_u32).flat_map(|i| (i * i).to_le_bytes()).collect();
        let options = Options::new(4).with_format(Format::Blosc1);
        let pack = |threads: &Threads| {
            let mut packer = Packer::new(&options, threads, 10_000, Checksum::Crc32).unwrap();
            assert!(packer.batch_len() >= data.len());
            packer.pack(&data).unwrap().to_vec()
        };
        assert_eq!(pack(&Threads::serial()).len(), 16);
        assert_eq!(pack(&Threads::serial()), pack(&Threads::at_most(0)));
    }

    #[test]
    fn no_data_is_one_empty_chunk() {
        let options = Options::new(8).with_format(Format::Blosc1);
        let mut packer = Packer::new(&options, &Threads::serial(), 100, Checksum::None).unwrap();
        let records = packer.pack(&[]).unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].len(), 16);
    }
}
