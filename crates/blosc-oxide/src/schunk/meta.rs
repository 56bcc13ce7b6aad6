//! Named pieces of metadata.

use crate::bytes::msgpack::MAX_FIXSTR;
use crate::chunk::{Chunk, Compressor, Decompressor, Header, Options};
use crate::error::{Error, ErrorKind, Result, bail};
use crate::exec::Threads;
use crate::filter::{BitshuffleRule, Pipeline};
use crate::limits::{Limits, MAX_METALAYERS, MAX_VLMETALAYERS};

/// How many variable-length metalayers the reference can still add to.
const MAX_PORTABLE_VLMETALAYERS: usize = 16;
/// The name of the one that frames add themselves, with the hashes of all chunks.
pub(crate) const RESERVED_NAME: &str = "_xxh3";

/// Names with contents, in the order they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Layers(Vec<(String, Vec<u8>)>);

impl Layers {
    fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(other, _)| other == name)
    }

    fn find(&self, name: &str) -> Result<usize> {
        match self.position(name) {
            Some(position) => Ok(position),
            None => bail!(InvalidArgument, "there is no metalayer {name:?}"),
        }
    }

    fn check_new(&self, name: &str) -> Result<()> {
        if name.is_empty() || name.len() > MAX_FIXSTR {
            bail!(InvalidArgument, "the name {name:?} has {} bytes, it can have 1 to {MAX_FIXSTR}", name.len());
        }
        if self.position(name).is_some() {
            bail!(InvalidArgument, "there is a metalayer {name:?} already");
        }
        Ok(())
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, content)| (name.as_str(), content.as_slice()))
    }
}

/// The metalayers of a super-chunk: up to 16, kept in the header of a frame.
///
/// ```
/// use blosc_oxide::{Options, SuperChunk};
/// let mut sc = SuperChunk::new(Options::new(1))?;
/// sc.metalayers_mut().add("unit", *b"kelvin")?;
/// sc.metalayers_mut().update("unit", *b"metres")?;
/// assert_eq!(sc.metalayers().get("unit"), Some(&b"metres"[..]));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metalayers(Layers);

impl Metalayers {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.0.is_empty()
    }

    /// The content of one, if it is there.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.position(name).map(|position| self.0.0[position].1.as_slice())
    }

    /// All of them, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter()
    }

    /// Adds one.
    ///
    /// # Errors
    /// `InvalidArgument` if the name is there already, empty or of more than 31 bytes, or if there
    /// are 16 already.
    pub fn add(&mut self, name: &str, content: impl Into<Vec<u8>>) -> Result<()> {
        self.0.check_new(name)?;
        if self.len() >= MAX_METALAYERS {
            bail!(InvalidArgument, "there are {MAX_METALAYERS} metalayers already, {name:?} cannot be added");
        }
        self.0.0.push((name.to_owned(), content.into()));
        Ok(())
    }

    /// Gives one another content.
    ///
    /// # Errors
    /// `InvalidArgument` if it is not there.
    pub fn update(&mut self, name: &str, content: impl Into<Vec<u8>>) -> Result<()> {
        let position = self.0.find(name)?;
        self.0.0[position].1 = content.into();
        Ok(())
    }

    /// Removes one.
    ///
    /// # Errors
    /// `InvalidArgument` if it is not there.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let position = self.0.find(name)?;
        self.0.0.remove(position);
        Ok(())
    }
}

/// The variable-length metalayers of a super-chunk, kept compressed in the trailer of a frame.
///
/// ```
/// use blosc_oxide::{Options, SuperChunk};
/// let mut sc = SuperChunk::new(Options::new(1))?;
/// sc.vlmetalayers_mut().add("note", b"short")?;
/// sc.vlmetalayers_mut().update("note", b"much longer than before")?;
/// assert_eq!(sc.vlmetalayers().get("note")?.as_deref(), Some(&b"much longer than before"[..]));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VlMetalayers {
    /// The contents as chunks.
    layers: Layers,
    is_many: bool,
    /// Whether the frame adds one of its own.
    has_reserved: bool,
    limits: Limits,
    /// The rule of bitshuffle of chunks that do not name it.
    bitshuffle: BitshuffleRule,
}

impl VlMetalayers {
    pub(crate) fn new() -> Self {
        Self {
            layers: Layers::default(),
            is_many: false,
            has_reserved: false,
            limits: Limits::new(),
            bitshuffle: BitshuffleRule::default(),
        }
    }

    /// Holds contents to these limits when they are decompressed.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Decompresses contents by this rule of bitshuffle, where their chunks do not tell it.
    pub(crate) fn set_bitshuffle(&mut self, rule: BitshuffleRule) {
        self.bitshuffle = rule;
    }

    /// Allows up to 8,192 of them instead of 16. The reference reads such frames, but cannot extend
    /// them. The checksums of a frame count as one.
    pub fn allow_many(&mut self) {
        self.is_many = true;
    }

    /// Reserves a place for the one that the frame adds.
    pub(crate) fn reserve(&mut self) {
        self.has_reserved = true;
    }

    /// Whether another program can still extend a frame that has these and one for checksums.
    pub(crate) fn has_room_for_checksums(&self) -> bool {
        self.len() < MAX_PORTABLE_VLMETALAYERS || self.is_many
    }

    fn max(&self) -> usize {
        let max = if self.is_many { MAX_VLMETALAYERS } else { MAX_PORTABLE_VLMETALAYERS };
        max - usize::from(self.has_reserved)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layers.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.0.is_empty()
    }

    /// The names, in the order they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().map(|(name, _)| name)
    }

    /// Whether there is one of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.layers.position(name).is_some()
    }

    /// How long the content of one is, if it is there; it is not decompressed for that.
    ///
    /// # Errors
    /// `Corrupt` if the header of its chunk is damaged.
    pub fn nbytes(&self, name: &str) -> Result<Option<usize>> {
        let Some(position) = self.layers.position(name) else { return Ok(None) };
        let header = Header::parse(&self.layers.0[position].1).map_err(|error| in_layer(name, error))?;
        Ok(Some(header.nbytes()))
    }

    /// Names, and whether each of them can be decompressed. What is decoded for that is held to the
    /// limit together: a frame of 8 MB can have 8 GB in them.
    pub(crate) fn examine(&self) -> impl Iterator<Item = (&str, Result<()>)> {
        let mut decoded = 0_usize;
        self.layers.iter().map(move |(name, chunk)| {
            let mut decompressor = self.decompressor().with_limits(self.limits.besides(decoded));
            let examined = Chunk::parse(chunk).and_then(|chunk| decompressor.examine(&chunk));
            let result = examined.map(|nbytes| decoded = decoded.saturating_add(nbytes)).map_err(|error| {
                let is_late = decoded > 0 && error.kind() == ErrorKind::LimitExceeded;
                let after = |error: Error| error.within(format_args!("after {decoded} bytes in others"));
                in_layer(name, if is_late { after(error) } else { error })
            });
            (name, result)
        })
    }

    /// Whether there is memory for the content of a chunk and for a block of it, which may be as
    /// long.
    fn check_memory(&self, chunk: &[u8]) -> Result<()> {
        let header = Header::parse(chunk)?;
        let is_filtered = header.special().is_none() && !header.is_memcpyed() && header.pipeline() != Pipeline::none();
        let scratch = if is_filtered { header.blocksize() } else { 0 };
        self.limits.check("its content", header.nbytes().saturating_add(scratch))
    }

    fn decompressor(&self) -> Decompressor {
        Decompressor::new().with_threads(Threads::serial()).with_limits(self.limits).with_bitshuffle(self.bitshuffle)
    }

    /// Names and contents of all of them.
    ///
    /// # Errors
    /// As [`get`](Self::get); `LimitExceeded` if all of them together hold more than the limits of
    /// the frame allow.
    pub fn contents(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let mut all = 0_usize;
        for name in self.names() {
            all = all.saturating_add(self.nbytes(name)?.unwrap_or_default());
        }
        self.limits.check("the variable-length metalayers", all)?;
        let content = |name: &str| Ok((name.to_owned(), self.get(name)?.unwrap_or_default()));
        self.names().map(content).collect()
    }

    /// The content of one, if it is there.
    ///
    /// # Errors
    /// `Corrupt` if its chunk is damaged, `LimitExceeded` if it holds more than the limits of the
    /// frame allow.
    pub fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(position) = self.layers.position(name) else { return Ok(None) };
        let chunk = &self.layers.0[position].1;
        let content = self.check_memory(chunk).and_then(|()| self.decompressor().decompress(chunk));
        content.map(Some).map_err(|error| in_layer(name, error))
    }

    /// Adds one.
    ///
    /// # Errors
    /// `InvalidArgument` if the name is there already, empty, of more than 31 bytes or `_xxh3`, or
    /// if there are too many already.
    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.layers.check_new(name)?;
        if name == RESERVED_NAME {
            bail!(InvalidArgument, "the name {name:?} is for the checksums of frames");
        }
        if self.len() >= self.max() {
            bail!(
                InvalidArgument,
                "there are {} variable-length metalayers already, {name:?} cannot be added{}",
                self.len(),
                if self.is_many { "" } else { ": the reference handles no more, allow_many does" }
            );
        }
        self.layers.0.push((name.to_owned(), compressed(content)?));
        Ok(())
    }

    /// Gives one another content.
    ///
    /// # Errors
    /// `InvalidArgument` if it is not there.
    pub fn update(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let position = self.layers.find(name)?;
        self.layers.0[position].1 = compressed(content)?;
        Ok(())
    }

    /// Removes one.
    ///
    /// # Errors
    /// `InvalidArgument` if it is not there.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let position = self.layers.find(name)?;
        self.layers.0.remove(position);
        Ok(())
    }

    /// Adds those of another.
    pub(crate) fn extend(&mut self, other: &Self) -> Result<()> {
        self.is_many |= other.is_many;
        if self.len() + other.len() > self.max() {
            bail!(
                InvalidArgument,
                "{} variable-length metalayers are too many with the {} that are there, at most {} are allowed",
                other.len(),
                self.len(),
                self.max()
            );
        }
        for (name, chunk) in other.chunks() {
            self.layers.check_new(name)?;
            match other.without_old_bitshuffle(name, chunk)? {
                Some(chunk) => self.push_chunk(name, &chunk),
                None => self.push_chunk(name, chunk),
            }
        }
        Ok(())
    }

    /// Another chunk with the same content, if this one needs a rule of bitshuffle that is not
    /// followed elsewhere.
    fn without_old_bitshuffle(&self, name: &str, chunk: &[u8]) -> Result<Option<Vec<u8>>> {
        if !Header::parse(chunk).is_ok_and(|header| header.needs_old_bitshuffle(self.bitshuffle)) {
            return Ok(None);
        }
        self.get(name)?.map(|content| compressed(&content)).transpose()
    }

    /// Names and chunks.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.layers.iter()
    }

    /// Adds one as it was read from a frame.
    pub(crate) fn push_chunk(&mut self, name: &str, chunk: &[u8]) {
        self.layers.0.push((name.to_owned(), chunk.to_vec()));
        self.is_many |= self.len() > MAX_PORTABLE_VLMETALAYERS;
    }

    /// Takes one away as it was read, if it is there.
    pub(crate) fn take_chunk(&mut self, name: &str) -> Option<Vec<u8>> {
        let position = self.layers.position(name)?;
        Some(self.layers.0.remove(position).1)
    }
}

fn in_layer(name: &str, error: Error) -> Error {
    error.within(format_args!("metalayer {name:?}"))
}

/// A chunk of `content`, in the codec that every reader has.
pub(crate) fn compressed(content: &[u8]) -> Result<Vec<u8>> {
    Compressor::new(Options::new(1).with_threads(Threads::serial()))?.compress(content)
}
