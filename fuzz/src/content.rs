//! Everything that a user sees of a frame, as a value.

use blosc_oxide::{Result, SuperChunk};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) metalayers: Vec<(String, Vec<u8>)>,
    pub(crate) vlmetalayers: Vec<(String, Vec<u8>)>,
}

impl Content {
    pub(crate) fn of(frame: &SuperChunk) -> Result<Self> {
        let names: Vec<String> = frame.vlmetalayers().names().map(str::to_owned).collect();
        let vlmetalayers = names.into_iter().map(|name| {
            let content = frame.vlmetalayers().get(&name)?.unwrap_or_default();
            Ok((name, content))
        });
        Ok(Self {
            chunks: (0..frame.nchunks()).map(|index| frame.decompress(index)).collect::<Result<_>>()?,
            metalayers: frame.metalayers().iter().map(|(name, content)| (name.to_owned(), content.to_vec())).collect(),
            vlmetalayers: vlmetalayers.collect::<Result<_>>()?,
        })
    }

    pub(crate) fn nbytes(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Writes over data, from chunk to chunk.
    pub(crate) fn write(&mut self, mut start: usize, mut data: &[u8]) {
        for chunk in &mut self.chunks {
            let here = data.len().min(chunk.len().saturating_sub(start));
            if here > 0 {
                chunk[start..start + here].copy_from_slice(&data[..here]);
            }
            start = start.saturating_sub(chunk.len());
            data = &data[here..];
        }
    }
}
