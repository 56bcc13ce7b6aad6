//! The items of a file of any format, to be looked at here and there: arrays, .npy files, and what
//! describes itself as an array.

use crate::arguments::array;
use crate::arguments::cli::Global;
use crate::failure::{At, Outcome};
use crate::inputs::input::{self, Bytes};
use crate::inputs::reading::{Plain, unpickled};
use crate::inputs::source::{Opening, is_single};
use crate::show::metadata::{Metadata, described_array};
use blosc_oxide::{AxisSelection, ItemOrder, NdArray, NpyHeader, Result, storage::MemoryStorage};
use std::path::Path;

/// How much is read at a time.
const PIECE: u64 = 8 << 20;

/// The items of a file, and what they are.
pub(crate) struct Values {
    /// The array that they are, if the file says it.
    pub(crate) described: Option<NpyHeader>,
    /// The metalayers, but for those that describe an array; `None` where a file has no place for
    /// any.
    pub(crate) metadata: Option<Metadata>,
    nbytes: u64,
    items: Items,
}

#[expect(clippy::large_enum_variant, reason = "there are two of them at the most")]
enum Items {
    Array(NdArray),
    Flat(Plain),
    Bytes(Bytes),
}

impl Values {
    /// Opens a Blosc file, a member of a store or an .npy file.
    pub(crate) fn open(path: &Path, global: &Global) -> Outcome<Self> {
        let place = input::shown(path);
        if !input::is_stream(path) && path.is_file() && input::is_npy(path)? {
            let (header, items) = input::open_npy(path)?;
            let nbytes = header.nbytes();
            return Ok(Self { described: Some(header), metadata: None, nbytes, items: Items::Bytes(items) });
        }
        let source = Opening::new(global).open(path)?;
        let metadata = Some(Metadata::of(&source).in_data(&place)?);
        if let Some((header, items)) = unpickled(&source).ok().flatten() {
            let (nbytes, items) = (items.len() as u64, Items::Bytes(Box::new(MemoryStorage::new(items))));
            return Ok(Self { described: Some(header), metadata, nbytes, items });
        }
        let described = described_array(&source).in_data(&place)?;
        let plain = Plain::new(source).in_data(&place)?;
        let nbytes = plain.nbytes().in_data(&place)?;
        Ok(match plain {
            Plain::Array(array) => {
                let described = Some(array::description(&array, array.shape()).in_data(&place)?);
                Self { described, metadata, nbytes, items: Items::Array(array) }
            }
            plain => {
                let described = described.filter(|described| described.nbytes() == nbytes);
                Self { described, metadata, nbytes, items: Items::Flat(plain) }
            }
        })
    }

    /// The same for a file that may also be none of these: its bytes are the items then.
    pub(crate) fn open_any(path: &Path, global: &Global) -> Outcome<Self> {
        let is_plain = !input::is_stream(path) && path.is_file() && !is_single(path)? && !input::is_npy(path)?;
        if !is_plain {
            return Self::open(path, global);
        }
        let bytes = input::random(path)?;
        let nbytes = bytes.len().at_path(path)?;
        Ok(Self { described: None, metadata: None, nbytes, items: Items::Bytes(bytes) })
    }

    /// How many bytes there are.
    pub(crate) fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// In which order the bytes are that [`bytes_from`](Self::bytes_from) gives, if no other is
    /// asked for.
    pub(crate) fn order(&self) -> ItemOrder {
        self.described.as_ref().map(NpyHeader::order).unwrap_or_default()
    }

    /// Whether the items can be had in either order.
    pub(crate) fn has_any_order(&self) -> bool {
        matches!(self.items, Items::Array(_))
    }

    /// The next bytes from `start` on, as many as are cheap to get; none at the end.
    pub(crate) fn bytes_from(&self, start: u64, order: ItemOrder) -> Result<Vec<u8>> {
        match &self.items {
            Items::Array(array) => array.in_order(order).bytes_from(start),
            _ => self.range(start, self.nbytes.min(start.saturating_add(PIECE))),
        }
    }

    /// A range of the bytes, in the order that they have.
    pub(crate) fn range(&self, start: u64, end: u64) -> Result<Vec<u8>> {
        let len = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        match &self.items {
            Items::Array(array) => array.in_order(array.order()).write_to(start..end, &mut bytes)?,
            Items::Flat(plain) => plain.write_range(start..end, &mut bytes)?,
            Items::Bytes(file) => {
                bytes.resize(len, 0);
                file.read_at(start, &mut bytes)?;
            }
        }
        Ok(bytes)
    }

    /// The items at these indices along each axis, in C order.
    pub(crate) fn items_at(&self, described: &NpyHeader, axes: &[Vec<u64>]) -> Result<Vec<u8>> {
        if let Items::Array(array) = &self.items {
            let selections: Vec<AxisSelection> = axes.iter().cloned().map(AxisSelection::Indices).collect();
            return array.slice(&selections);
        }
        let itemsize = described.itemsize() as u64;
        let strides = strides(described);
        let mut bytes = Vec::new();
        if axes.iter().any(Vec::is_empty) {
            return Ok(bytes);
        }
        let mut counters = vec![0; axes.len()];
        loop {
            let at: u64 = axes.iter().zip(&counters).zip(&strides).map(|((axis, &at), stride)| axis[at] * stride).sum();
            bytes.extend(self.range(at * itemsize, (at + 1) * itemsize)?);
            let Some(next) = (0..axes.len()).rev().find(|&axis| counters[axis] + 1 < axes[axis].len()) else { break };
            counters[next] += 1;
            counters[next + 1..].fill(0);
        }
        Ok(bytes)
    }
}

/// How many items lie between neighbours along each axis.
pub(crate) fn strides(described: &NpyHeader) -> Vec<u64> {
    let shape = described.shape();
    let step = |of: &[u64]| of.iter().product::<u64>();
    match described.order() {
        ItemOrder::C => (0..shape.len()).map(|axis| step(&shape[axis + 1..])).collect(),
        ItemOrder::Fortran => (0..shape.len()).map(|axis| step(&shape[..axis])).collect(),
    }
}
