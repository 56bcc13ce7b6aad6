//! A pipeline resolved for one chunk: without look-ups, and without filters that do nothing.

use super::delta::BlockPlace;
use super::plugin::{FilterContext, FilterPlugin, FilterRegistry};
use super::{BitshuffleRule, Filter, Pipeline, bitshuffle, bytedelta, delta, id, shuffle, truncate};
use crate::error::{Error, Result, error};
use crate::limits::MAX_FILTERS;

/// What filters need to know of the items they work on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element {
    /// The typesize as the header stores it: 1 for items of more than 255 bytes.
    pub(crate) typesize: usize,
    /// The true size of an item, where it is known: bytedelta goes by that.
    pub(crate) item: usize,
    /// Which blocks the bit shuffle transposes.
    pub(crate) bitshuffle: BitshuffleRule,
}

/// One filter. Small, and without borrows: for chunks of a few kilobytes, the cost of setting up a
/// pipeline matters.
#[derive(Clone, Copy)]
enum Stage {
    /// No filter, in a slot behind the last one.
    Nothing,
    Shuffle {
        group: usize,
    },
    BitShuffle {
        typesize: usize,
        rule: BitshuffleRule,
    },
    Delta {
        unit: usize,
    },
    Truncate {
        typesize: usize,
        zeroed: u32,
    },
    ByteDelta {
        planes: usize,
        restarting: bool,
    },
    Plugin {
        id: u8,
        meta: u8,
        typesize: usize,
    },
}

/// The filters of a chunk that change anything, in the order of compression.
#[derive(Clone, Copy)]
pub(crate) struct Stages<'p> {
    stages: [Stage; MAX_FILTERS],
    len: usize,
    registry: Option<&'p FilterRegistry>,
}

impl<'p> Stages<'p> {
    /// The stages of compressing with `pipeline`.
    pub(crate) fn for_encoding(pipeline: &Pipeline, element: Element, registry: &'p FilterRegistry) -> Result<Self> {
        let mut stages = Self::none();
        stages.set(pipeline, registry, |id, meta| encoding_stage(id, meta, element, registry))?;
        Ok(stages)
    }

    /// Sets it to the stages that decompressing a chunk with `pipeline` has to undo.
    pub(crate) fn set_for_decoding(
        &mut self,
        pipeline: &Pipeline,
        element: Element,
        registry: &'p FilterRegistry,
    ) -> Result<()> {
        self.set(pipeline, registry, |id, meta| match id {
            id::TRUNC_PREC | id::INT_TRUNC => Ok(Stage::Nothing),
            _ => reversible_stage(id, meta, element, registry),
        })
    }

    /// A chunk without filters.
    pub(crate) fn none() -> Self {
        Self { stages: [Stage::Nothing; MAX_FILTERS], len: 0, registry: None }
    }

    #[inline(always)]
    fn set(
        &mut self,
        pipeline: &Pipeline,
        registry: &'p FilterRegistry,
        stage: impl Fn(u8, u8) -> Result<Stage>,
    ) -> Result<()> {
        self.registry = Some(registry);
        self.len = 0;
        for (id, meta) in pipeline.slots() {
            if id == id::NONE {
                continue;
            }
            let stage = stage(id, meta)?;
            if !matches!(stage, Stage::Nothing) {
                self.stages[self.len] = stage;
                self.len += 1;
            }
        }
        Ok(())
    }

    fn as_slice(&self) -> &[Stage] {
        &self.stages[..self.len]
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a block refers to the first one.
    pub(crate) fn refers_to_first_block(&self) -> bool {
        self.as_slice().iter().any(|stage| matches!(stage, Stage::Delta { .. }))
    }

    /// Whether a block of one repeated byte stays one whatever the byte is.
    pub(crate) fn keeps_runs(&self) -> bool {
        self.as_slice().iter().all(|stage| matches!(stage, Stage::Shuffle { .. }))
    }

    /// The group size of the shuffle, if that is all there is to do.
    pub(crate) fn lone_shuffle(&self) -> Option<usize> {
        match *self.as_slice() {
            [Stage::Shuffle { group }] => Some(group),
            _ => None,
        }
    }

    /// Applies all filters to `src`. The result is in `src` itself, `a` or `b`, all of the same
    /// length.
    pub(crate) fn forward<'b>(
        &self,
        place: BlockPlace<'_>,
        src: &'b [u8],
        a: &'b mut [u8],
        b: &'b mut [u8],
    ) -> Result<&'b [u8]> {
        let Some((first, others)) = self.as_slice().split_first() else { return Ok(src) };
        self.apply(*first, place, src, a)?;
        let (mut from, mut to) = (a, b);
        for stage in others {
            self.apply(*stage, place, from, to)?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }

    /// Whether streams are to be decoded into the output, instead of the scratch block, so that
    /// [`backward`](Self::backward) ends in the output.
    pub(crate) fn starts_in_output(&self) -> bool {
        let moves = self.as_slice().iter().filter(|stage| !matches!(stage, Stage::Delta { .. })).count();
        moves.is_multiple_of(2)
    }

    /// Undoes all filters. The filtered block is in `out` if
    /// [`starts_in_output`](Self::starts_in_output), else in `scratch`, of the same length; the
    /// result is in `out`.
    pub(crate) fn backward(&self, place: BlockPlace<'_>, out: &mut [u8], scratch: &mut [u8]) -> Result<()> {
        let (mut from, mut to) = if self.starts_in_output() { (out, scratch) } else { (scratch, out) };
        for stage in self.as_slice().iter().rev() {
            if let Stage::Delta { unit } = *stage {
                delta::backward(unit, place, from);
            } else {
                self.undo(*stage, from, to)?;
                std::mem::swap(&mut from, &mut to);
            }
        }
        Ok(())
    }

    fn apply(&self, stage: Stage, place: BlockPlace<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
        match stage {
            Stage::Shuffle { group } => shuffle::forward(group, src, dst),
            Stage::BitShuffle { typesize, rule } => bitshuffle::forward(typesize, rule, src, dst),
            Stage::Delta { unit } => delta::forward(unit, place, src, dst),
            Stage::Truncate { typesize, zeroed } => truncate::forward(typesize, zeroed, src, dst),
            Stage::ByteDelta { planes, restarting } => bytedelta::forward(planes, restarting, src, dst),
            Stage::Plugin { id, meta, typesize } => {
                return self.plugin(id)?.forward(src, dst, FilterContext { meta, typesize });
            }
            Stage::Nothing => unreachable!("it has no place among the stages"),
        }
        Ok(())
    }

    #[inline]
    fn undo(&self, stage: Stage, src: &[u8], dst: &mut [u8]) -> Result<()> {
        match stage {
            Stage::Shuffle { group } => shuffle::backward(group, src, dst),
            Stage::BitShuffle { typesize, rule } => bitshuffle::backward(typesize, rule, src, dst),
            Stage::ByteDelta { planes, restarting } => bytedelta::backward(planes, restarting, src, dst),
            Stage::Plugin { id, meta, typesize } => {
                return self.plugin(id)?.backward(src, dst, FilterContext { meta, typesize });
            }
            Stage::Delta { .. } | Stage::Truncate { .. } | Stage::Nothing => {
                unreachable!("undone in place, or not at all")
            }
        }
        Ok(())
    }

    fn plugin(&self, id: u8) -> Result<&'p dyn FilterPlugin> {
        self.registry.and_then(|registry| registry.get(id)).ok_or_else(|| unknown(id))
    }
}

fn encoding_stage(id: u8, meta: u8, element: Element, registry: &FilterRegistry) -> Result<Stage> {
    let typesize = element.typesize;
    let zeroed = match id {
        id::TRUNC_PREC => truncate::zeroed_mantissa_bits(meta.cast_signed(), typesize)?,
        id::INT_TRUNC => truncate::zeroed_integer_bits(meta.cast_signed(), typesize)?,
        _ => return reversible_stage(id, meta, element, registry),
    };
    Ok(if zeroed > 0 { Stage::Truncate { typesize, zeroed } } else { Stage::Nothing })
}

// In line, so that a stage is made where it belongs: as a result it would be copied in other pieces
// than it was written in, which takes longer than everything else here.
#[inline(always)]
fn reversible_stage(id: u8, meta: u8, element: Element, registry: &FilterRegistry) -> Result<Stage> {
    let typesize = element.typesize;
    let group = if meta == 0 { typesize } else { usize::from(meta) };
    Ok(match id {
        id::SHUFFLE if group == 1 => Stage::Nothing,
        id::SHUFFLE => Stage::Shuffle { group },
        id::BITSHUFFLE => Stage::BitShuffle { typesize, rule: element.bitshuffle },
        id::DELTA => Stage::Delta { unit: delta::unit(typesize) },
        id::BYTEDELTA | id::BYTEDELTA_RESTARTING => {
            let planes = if meta == 0 { element.item } else { group };
            Stage::ByteDelta { planes, restarting: id == id::BYTEDELTA_RESTARTING }
        }
        _ if registry.get(id).is_some() => Stage::Plugin { id, meta, typesize },
        _ => return Err(unknown(id)),
    })
}

#[cold]
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
