//! NumPy arrays: their types, shapes and orders, and the header of an .npy file.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod dtype;
mod literal;

pub(crate) use dtype::DType;
pub(crate) use literal::Literal;

use crate::error::{Result, bail, error};
use std::io::{Read, Write};

const NPY_MAGIC: &[u8; 6] = b"\x93NUMPY";
/// What stands before the data of an .npy file has a multiple of this length.
const NPY_ALIGN: usize = 64;
/// The longest description of an array that is looked at. NumPy itself refuses much shorter ones.
const MAX_DESCRIPTION: usize = 16 << 20;

/// In which order the items of an array are stored.
///
/// ```
/// use blosc_oxide::{ItemOrder, NpyHeader};
/// let columns_first = NpyHeader::new("<f4", [60, 100], ItemOrder::Fortran)?;
/// assert_eq!(columns_first.order(), ItemOrder::Fortran);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ItemOrder {
    /// The last dimension varies fastest, as in C.
    #[default]
    C,
    /// The first dimension varies fastest, as in Fortran.
    Fortran,
}

/// The type, the shape and the order of an array, everything but its data.
///
/// ```
/// use blosc_oxide::{ItemOrder, NpyHeader};
/// let array = NpyHeader::new("<f4", [60, 100], ItemOrder::C)?;
/// assert_eq!(array.nbytes(), 24_000);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyHeader {
    dtype: DType,
    shape: Vec<u64>,
    order: ItemOrder,
    nbytes: u64,
}

impl NpyHeader {
    /// An array of items of a type, which is given as NumPy describes it: `<f8`, or
    /// `[('a', '<i4'), ('b', '|S3')]`.
    ///
    /// # Errors
    /// `Unsupported` if the type is not known or holds Python objects, `Corrupt` if it is no
    /// description; `InvalidArgument` if the array is longer than a file can be.
    pub fn new(dtype: &str, shape: impl Into<Vec<u64>>, order: ItemOrder) -> Result<Self> {
        Self::with_dtype(DType::parse(dtype)?, shape.into(), order)
    }

    pub(crate) fn with_dtype(dtype: DType, shape: Vec<u64>, order: ItemOrder) -> Result<Self> {
        let itemsize = dtype.itemsize() as u64;
        // An array without items may have any other lengths, and its size is none.
        let nbytes = if shape.contains(&0) {
            Some(0)
        } else {
            shape.iter().try_fold(itemsize, |nbytes, &length| nbytes.checked_mul(length))
        };
        let Some(nbytes) = nbytes.filter(|&nbytes| i64::try_from(nbytes).is_ok()) else {
            bail!(InvalidArgument, "an array of {itemsize}-byte items and shape {shape:?} is too long");
        };
        Ok(Self { dtype, shape, order, nbytes })
    }

    /// The type as NumPy describes it.
    #[must_use]
    pub fn dtype(&self) -> String {
        match self.dtype.description() {
            Literal::Str(text) => text.clone(),
            fields => fields.to_string(),
        }
    }

    /// The type, parsed.
    #[cfg_attr(not(feature = "bloscpack"), expect(dead_code, reason = "only metadata asks for it"))]
    pub(crate) fn parsed_dtype(&self) -> &DType {
        &self.dtype
    }

    /// The size of an item.
    #[must_use]
    pub fn itemsize(&self) -> usize {
        self.dtype.itemsize()
    }

    /// The length of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// In which order the items are stored.
    #[must_use]
    pub fn order(&self) -> ItemOrder {
        self.order
    }

    /// How many bytes the data has.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Reads the header of an .npy file; the data is what comes next.
    ///
    /// # Errors
    /// `Corrupt`, `Truncated` or `Unsupported` if it is none, is cut off or cannot be understood.
    pub fn read_npy_header(input: &mut impl Read) -> Result<Self> {
        Self::from_npy_header(input).map_err(|error| error.within("npy"))
    }

    fn from_npy_header(input: &mut impl Read) -> Result<Self> {
        let start = read_array::<8>(input)?;
        let [magic @ .., major, minor] = start;
        if &magic != NPY_MAGIC {
            bail!(Corrupt, "starts with \"{}\", not with \"\\x93NUMPY\"", magic.escape_ascii());
        }
        let len = match major {
            1 => u32::from(u16::from_le_bytes(read_array(input)?)),
            2 | 3 => u32::from_le_bytes(read_array(input)?),
            _ => bail!(Unsupported, "version {major}.{minor} is not one of 1.0 to 3.0"),
        };
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        check_len(len)?;
        let bytes = read_vec(input, len)?;
        let text = if major == 3 {
            String::from_utf8(bytes).map_err(|_| error!(Corrupt, "the header is no UTF-8"))?
        } else {
            bytes.into_iter().map(char::from).collect()
        };
        Self::from_npy_dict(&Literal::parse(text.trim_end())?)
    }

    fn from_npy_dict(header: &Literal) -> Result<Self> {
        let missing = |key: &str| error!(Corrupt, "the header has no good {key:?}");
        let description = header.get("descr").ok_or_else(|| missing("descr"))?;
        let order = match header.get("fortran_order") {
            Some(Literal::Bool(true)) => ItemOrder::Fortran,
            Some(Literal::Bool(false)) => ItemOrder::C,
            _ => return Err(missing("fortran_order")),
        };
        let shape = match header.get("shape") {
            Some(Literal::Tuple(lengths)) => lengths.iter().map(Literal::as_u64).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        Self::with_dtype(DType::new(description.clone())?, shape.ok_or_else(|| missing("shape"))?, order)
    }

    /// Writes the header of an .npy file; the data must come next.
    ///
    /// # Errors
    /// Whatever `out` reports.
    pub fn write_npy_header(&self, out: &mut impl Write) -> Result<()> {
        Ok(out.write_all(&self.npy_header()?)?)
    }

    fn npy_header(&self) -> Result<Vec<u8>> {
        let length = |&length: &u64| {
            i64::try_from(length).map(Literal::Int).map_err(|_| error!(InvalidArgument, "a length is {length}"))
        };
        let shape = self.shape.iter().map(length).collect::<Result<_>>()?;
        let key = |name: &str| Literal::Str(name.to_owned());
        let text = Literal::Dict(vec![
            (key("descr"), self.dtype.description().clone()),
            (key("fortran_order"), Literal::Bool(self.order == ItemOrder::Fortran)),
            (key("shape"), Literal::Tuple(shape)),
        ])
        .to_string();
        // Version 1 has two bytes for the length; names that are not ASCII came with version 3.
        let is_short = text.is_ascii() && text.len() < usize::from(u16::MAX).saturating_sub(NPY_ALIGN);
        let (version, start_len) = match (is_short, text.is_ascii()) {
            (true, _) => (1, 10_usize),
            (false, true) => (2, 12),
            (false, false) => (3, 12),
        };
        let whole = start_len.saturating_add(text.len()).saturating_add(1).next_multiple_of(NPY_ALIGN);
        let len = whole.saturating_sub(start_len);
        let mut header = NPY_MAGIC.to_vec();
        header.extend([version, 0]);
        match u16::try_from(len) {
            Ok(len) if is_short => header.extend(len.to_le_bytes()),
            _ => header.extend(u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes()),
        }
        header.extend_from_slice(text.as_bytes());
        header.resize(whole.saturating_sub(1), b' ');
        header.push(b'\n');
        Ok(header)
    }
}

/// Refuses descriptions that no array needs.
pub(crate) fn check_len(len: usize) -> Result<()> {
    if len > MAX_DESCRIPTION {
        bail!(LimitExceeded, "the description of the array has {len} bytes, {MAX_DESCRIPTION} are allowed");
    }
    Ok(())
}

fn read_array<const N: usize>(input: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&read_vec(input, N)?);
    Ok(bytes)
}

fn read_vec(input: &mut impl Read, len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let came = input.by_ref().take(len as u64).read_to_end(&mut bytes)?;
    if came < len {
        bail!(Truncated, "the header is cut off: {len} bytes needed, {came} there");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays() -> Vec<NpyHeader> {
        [
            ("<f8", vec![6000], ItemOrder::C),
            (">i4", vec![3, 4], ItemOrder::Fortran),
            ("|b1", vec![], ItemOrder::C),
            ("<M8[s]", vec![0, 4], ItemOrder::C),
            ("[('p', [('x', '<f4'), ('y', '<f4')]), ('id', '<u8', (2,))]", vec![300], ItemOrder::C),
            ("[('gr\u{f6}\u{df}e \u{2603}', '<f4')]", vec![2, 2, 2], ItemOrder::C),
        ]
        .into_iter()
        .map(|(dtype, shape, order)| NpyHeader::new(dtype, shape, order).unwrap())
        .collect()
    }

    #[test]
    fn npy_headers_come_back_and_are_aligned() {
        for array in arrays() {
            let mut header = Vec::new();
            array.write_npy_header(&mut header).unwrap();
            assert_eq!(header.len() % 64, 0);
            assert_eq!(NpyHeader::read_npy_header(&mut &header[..]).unwrap(), array);
            for len in 0..header.len() {
                assert!(NpyHeader::read_npy_header(&mut &header[..len]).is_err());
            }
        }
    }

    #[test]
    fn a_header_too_long_for_version_1_is_version_2() {
        let fields: Vec<String> = (0..8000).map(|i| format!("('f{i}', '<i4')")).collect();
        let array = NpyHeader::new(&format!("[{}]", fields.join(", ")), [7], ItemOrder::C).unwrap();
        let mut header = Vec::new();
        array.write_npy_header(&mut header).unwrap();
        assert_eq!(header[6], 2);
        assert_eq!(NpyHeader::read_npy_header(&mut &header[..]).unwrap(), array);
        assert_eq!(array.itemsize(), 32_000);
    }

    #[test]
    fn a_shape_that_no_file_can_hold_is_refused() {
        let error = NpyHeader::new("<f8", [1 << 40, 1 << 40], ItemOrder::C).unwrap_err();
        assert!(error.to_string().ends_with("is too long"));
        assert_eq!(NpyHeader::new("<f8", [1 << 62, 0, 1 << 62], ItemOrder::C).unwrap().nbytes(), 0);
    }
}
