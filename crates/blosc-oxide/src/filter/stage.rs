//! A pipeline resolved for one chunk: filters with nothing left to look up, and none that does nothing.

use super::plugin::{FilterContext, FilterPlugin, FilterRegistry};
use super::{Filter, MAX_FILTERS, Pipeline, bitshuffle, bytedelta, delta, id, shuffle, truncate};
use crate::error::{Error, Result, error};

/// What filters need to know of the items they work on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element {
    /// The typesize as the header stores it: 1 for items of more than 255 bytes.
    pub(crate) typesize: usize,
    /// The true size of an item, where it is known: bytedelta goes by that.
    pub(crate) item: usize,
    /// Whether the bit shuffle follows the rule of chunk version 2.
    pub(crate) blosc1_bitshuffle: bool,
}

/// Where in its chunk a block is, for the filter that refers to another block.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BlockPlace<'a> {
    /// The first block, or one that stands for itself.
    First,
    /// A later block, with the unfiltered bytes of the first.
    After(&'a [u8]),
}

#[derive(Clone, Copy)]
enum Stage<'p> {
    Shuffle { group: usize },
    BitShuffle { typesize: usize, all_or_nothing: bool },
    Delta { unit: usize },
    Truncate { typesize: usize, zeroed: u32 },
    ByteDelta { planes: usize, restarting: bool },
    Plugin { filter: &'p dyn FilterPlugin, context: FilterContext },
}

/// The filters of a chunk that do something, in the order of compression.
#[derive(Clone, Copy)]
pub(crate) struct Stages<'p> {
    stages: [Option<Stage<'p>>; MAX_FILTERS],
}

impl<'p> Stages<'p> {
    /// What compressing with `pipeline` has to do.
    pub(crate) fn for_encoding(pipeline: &Pipeline, element: Element, registry: &'p FilterRegistry) -> Result<Self> {
        Self::resolve(pipeline, |id, meta| encoding_stage(id, meta, element, registry))
    }

    /// What decompressing a chunk with `pipeline` has to undo.
    pub(crate) fn for_decoding(pipeline: &Pipeline, element: Element, registry: &'p FilterRegistry) -> Result<Self> {
        Self::resolve(pipeline, |id, meta| match id {
            id::TRUNC_PREC | id::INT_TRUNC => Ok(None),
            _ => reversible_stage(id, meta, element, registry),
        })
    }

    /// A chunk without filters.
    pub(crate) fn none() -> Self {
        Self { stages: [None; MAX_FILTERS] }
    }

    fn resolve(pipeline: &Pipeline, stage: impl Fn(u8, u8) -> Result<Option<Stage<'p>>>) -> Result<Self> {
        let mut stages = [None; MAX_FILTERS];
        for ((place, &id), &meta) in stages.iter_mut().zip(&pipeline.ids()).zip(&pipeline.metas()) {
            *place = stage(id, meta)?;
        }
        Ok(Self { stages })
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.stages.iter().all(Option::is_none)
    }

    /// Whether a block refers to the first one.
    pub(crate) fn refers_to_first_block(&self) -> bool {
        self.stages.iter().flatten().any(|stage| matches!(stage, Stage::Delta { .. }))
    }

    /// Whether a block of one repeated byte stays one whatever the byte is.
    pub(crate) fn keeps_runs(&self) -> bool {
        self.stages.iter().flatten().all(|stage| matches!(stage, Stage::Shuffle { .. }))
    }

    /// The group size of the shuffle, if that is all there is to do.
    pub(crate) fn lone_shuffle(&self) -> Option<usize> {
        let mut stages = self.stages.iter().flatten();
        match (stages.next(), stages.next()) {
            (Some(&Stage::Shuffle { group }), None) => Some(group),
            _ => None,
        }
    }

    /// Applies all filters to `src`. The result is in `src` itself, `a` or `b`, all of the same length.
    pub(crate) fn forward<'b>(
        &self,
        place: BlockPlace<'_>,
        src: &'b [u8],
        a: &'b mut [u8],
        b: &'b mut [u8],
    ) -> Result<&'b [u8]> {
        let mut stages = self.stages.iter().flatten();
        let Some(first) = stages.next() else { return Ok(src) };
        first.forward(place, src, a)?;
        let (mut from, mut to) = (a, b);
        for stage in stages {
            stage.forward(place, from, to)?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }

    /// Whether the decoded streams belong into the output at once, instead of the scratch block, so that
    /// [`backward`](Self::backward) ends in the output.
    pub(crate) fn starts_in_output(&self) -> bool {
        self.moves().is_multiple_of(2)
    }

    /// Undoes all filters. The filtered block is in `out` if [`starts_in_output`](Self::starts_in_output), else in
    /// `scratch`, of the same length; the result is in `out`.
    pub(crate) fn backward(&self, place: BlockPlace<'_>, out: &mut [u8], scratch: &mut [u8]) -> Result<()> {
        let (mut from, mut to) = if self.starts_in_output() { (out, scratch) } else { (scratch, out) };
        for stage in self.stages.iter().rev().flatten() {
            if let Stage::Delta { unit } = *stage {
                delta::backward(unit, place, from);
            } else {
                stage.backward(from, to)?;
                std::mem::swap(&mut from, &mut to);
            }
        }
        Ok(())
    }

    /// How many filters move the block from one buffer to another when undone.
    fn moves(&self) -> usize {
        self.stages.iter().flatten().filter(|stage| !matches!(stage, Stage::Delta { .. })).count()
    }
}

impl Stage<'_> {
    fn forward(&self, place: BlockPlace<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
        match *self {
            Self::Shuffle { group } => shuffle::forward(group, src, dst),
            Self::BitShuffle { typesize, all_or_nothing } => bitshuffle::forward(typesize, all_or_nothing, src, dst),
            Self::Delta { unit } => delta::forward(unit, place, src, dst),
            Self::Truncate { typesize, zeroed } => truncate::forward(typesize, zeroed, src, dst),
            Self::ByteDelta { planes, restarting } => bytedelta::forward(planes, restarting, src, dst),
            Self::Plugin { filter, context } => return filter.forward(src, dst, context),
        }
        Ok(())
    }

    fn backward(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        match *self {
            Self::Shuffle { group } => shuffle::backward(group, src, dst),
            Self::BitShuffle { typesize, all_or_nothing } => bitshuffle::backward(typesize, all_or_nothing, src, dst),
            Self::ByteDelta { planes, restarting } => bytedelta::backward(planes, restarting, src, dst),
            Self::Plugin { filter, context } => return filter.backward(src, dst, context),
            Self::Delta { .. } | Self::Truncate { .. } => unreachable!("undone in place, or not at all"),
        }
        Ok(())
    }
}

fn encoding_stage<'p>(id: u8, meta: u8, element: Element, registry: &'p FilterRegistry) -> Result<Option<Stage<'p>>> {
    let typesize = element.typesize;
    let zeroed = match id {
        id::TRUNC_PREC => truncate::zeroed_mantissa_bits(meta.cast_signed(), typesize)?,
        id::INT_TRUNC => truncate::zeroed_integer_bits(meta.cast_signed(), typesize)?,
        _ => return reversible_stage(id, meta, element, registry),
    };
    Ok((zeroed > 0).then_some(Stage::Truncate { typesize, zeroed }))
}

fn reversible_stage<'p>(id: u8, meta: u8, element: Element, registry: &'p FilterRegistry) -> Result<Option<Stage<'p>>> {
    let typesize = element.typesize;
    let group = if meta == 0 { typesize } else { usize::from(meta) };
    Ok(Some(match id {
        id::NONE => return Ok(None),
        id::SHUFFLE if group == 1 => return Ok(None),
        id::SHUFFLE => Stage::Shuffle { group },
        id::BITSHUFFLE => Stage::BitShuffle { typesize, all_or_nothing: element.blosc1_bitshuffle },
        id::DELTA => Stage::Delta { unit: delta::unit(typesize) },
        id::BYTEDELTA | id::BYTEDELTA_RESTARTING => {
            let planes = if meta == 0 { element.item } else { group };
            Stage::ByteDelta { planes, restarting: id == id::BYTEDELTA_RESTARTING }
        }
        _ => match registry.get(id) {
            Some(filter) => Stage::Plugin { filter, context: FilterContext { meta, typesize } },
            None => return Err(unknown(id)),
        },
    }))
}

fn unknown(id: u8) -> Error {
    match id {
        id::NDCELL | id::NDMEAN => {
            let name = Filter::name_of(id).unwrap_or_default();
            error!(Unsupported, "filter {id} ({name}) needs the geometry of an array, which a lone chunk does not have")
        }
        id::FIRST_USER.. => error!(Unsupported, "filter {id} is a user's own and no plug-in is registered for it"),
        _ => error!(Unsupported, "filter {id} is not known"),
    }
}
