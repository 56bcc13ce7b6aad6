//! ndlz, reading: matrices of bytes in cells of 4 x 4 or 8 x 8, which refer to rows of earlier
//! cells.
//!
//! A stream is the number of dimensions (2), the two lengths of the block as 32-bit numbers, and
//! the cells in C order. A cell starts with a token; offsets are 16 bits wide and count back from
//! it, within the stream.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::error::{Error, Result, bail, error};

const NDIM: u8 = 2;
const LITERAL: u8 = 0x00;
const REPEATED: u8 = 0x40;
const WHOLE: u8 = 0xc0;
/// The longest side of a cell.
const MAX_EDGE: usize = 8;

/// The rows of a cell that are found elsewhere, in order, and next to each other there.
type Rows = &'static [usize];

/// What a token says about a cell that refers to rows: the rows of each reference. All other rows
/// are stored after the references.
fn references(edge: usize, token: u8) -> Option<&'static [Rows]> {
    const NEXT: Rows = &[0, 1, 2, 3, 4, 5, 6, 7];
    Some(match (edge, token) {
        (4, 0xe0) => &[&[1, 2, 3]],
        (4, 0xe8) => &[&[0, 1, 2]],
        (4, 0xf0) => &[&[0, 1, 3]],
        (4, 0xf8) => &[&[0, 2, 3]],
        (4, 0x80) => &[&[2, 3]],
        (4, 0x88) => &[&[0, 1]],
        (4, 0x90) => &[&[0, 2]],
        (4, 0x98) => &[&[0, 3]],
        (4, 0xb0) => &[&[1, 2]],
        (4, 0xb8) => &[&[1, 3]],
        (4, 0x28) => &[&[0, 1], &[2, 3]],
        (4, 0x30) => &[&[0, 2], &[1, 3]],
        (4, 0x38) => &[&[0, 3], &[1, 2]],
        (4, WHOLE) => &[&[0, 1, 2, 3]],
        (8, 0x88) => &[&[0, 1]],
        (8, 0x89) => &[&[1, 2]],
        (8, 0x8a) => &[&[2, 3]],
        (8, 0x8b) => &[&[3, 4]],
        (8, 0x8c) => &[&[4, 5]],
        (8, 0x8d) => &[&[5, 6]],
        (8, 0x8e) => &[&[6, 7]],
        (8, 0xa8) => &[&[0, 1, 2]],
        (8, 0xa9) => &[&[1, 2, 3]],
        (8, 0xaa) => &[&[2, 3, 4]],
        (8, 0xab) => &[&[3, 4, 5]],
        (8, 0xac) => &[&[4, 5, 6]],
        (8, 0xad) => &[&[5, 6, 7]],
        (8, WHOLE) => &[NEXT],
        _ => return None,
    })
}

/// Decompresses `src` into `dst` and returns how many bytes it wrote; `meta` is the side of cells.
pub(super) fn decompress(src: &[u8], dst: &mut [u8], meta: u8) -> Result<usize> {
    let edge = match meta {
        4 | 8 => usize::from(meta),
        _ => bail!(Corrupt, "ndlz: cells of {meta}, there are those of 4 and 8"),
    };
    let mut stream = Stream { src, at: 0 };
    let ndim = stream.byte()?;
    let (height, width) = (stream.length()?, stream.length()?);
    if ndim != NDIM || height.checked_mul(width) != Some(dst.len()) {
        bail!(Corrupt, "ndlz: a block of {height} x {width} in {ndim} dimensions is no matrix of {} bytes", dst.len());
    }
    if dst.is_empty() {
        return Ok(0);
    }
    // One row of cells after the other.
    for band in dst.chunks_mut(width.saturating_mul(edge)) {
        let rows = band.len().checked_div(width).unwrap_or_default();
        for left in (0..width).step_by(edge) {
            let cell = Cell { left, width, rows, columns: edge.min(width.saturating_sub(left)) };
            stream.cell(edge, &cell, band)?;
        }
    }
    Ok(dst.len())
}

/// Where a cell is in the rows of a block that it goes through.
struct Cell {
    left: usize,
    width: usize,
    rows: usize,
    columns: usize,
}

impl Cell {
    /// One row of the cell.
    fn row<'b>(&self, band: &'b mut [u8], row: usize) -> &'b mut [u8] {
        let start = row.saturating_mul(self.width).saturating_add(self.left);
        band.get_mut(start..start.saturating_add(self.columns)).unwrap_or_default()
    }
}

struct Stream<'a> {
    src: &'a [u8],
    at: usize,
}

impl<'a> Stream<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.saturating_add(len);
        let bytes = self.src.get(self.at..end).ok_or_else(|| self.cut_off(len))?;
        self.at = end;
        Ok(bytes)
    }

    fn cut_off(&self, len: usize) -> Error {
        error!(Corrupt, "ndlz: {len} bytes at {} are beyond the end at {}", self.at, self.src.len())
    }

    fn byte(&mut self) -> Result<u8> {
        self.take(1)?.first().copied().ok_or_else(|| self.cut_off(1))
    }

    fn length(&mut self) -> Result<usize> {
        let bytes = self.take(4)?.first_chunk().copied().unwrap_or_default();
        usize::try_from(i32::from_le_bytes(bytes)).map_err(|_| error!(Corrupt, "ndlz: a block has a negative length"))
    }

    /// What an offset refers to.
    fn reference(&mut self, token_at: usize, len: usize) -> Result<&'a [u8]> {
        let offset = usize::from(u16::from_le_bytes(self.take(2)?.first_chunk().copied().unwrap_or_default()));
        let found = token_at.checked_sub(offset).and_then(|start| self.src.get(start..start.checked_add(len)?));
        found.ok_or_else(|| error!(Corrupt, "ndlz: {len} bytes {offset} before {token_at} are not in the stream"))
    }

    fn cell(&mut self, edge: usize, cell: &Cell, band: &mut [u8]) -> Result<()> {
        let token_at = self.at;
        let token = self.byte()?;
        let is_whole = cell.rows == edge && cell.columns == edge;
        match token {
            LITERAL => (0..cell.rows).try_for_each(|row| {
                cell.row(band, row).copy_from_slice(self.take(cell.columns)?);
                Ok(())
            }),
            REPEATED => {
                let byte = self.byte()?;
                (0..cell.rows).for_each(|row| cell.row(band, row).fill(byte));
                Ok(())
            }
            _ => match references(edge, token) {
                Some(references) if is_whole => self.refer(token_at, references, edge, cell, band),
                _ => bail!(Corrupt, "ndlz: token {token:#04x} of a cell of {} x {}", cell.rows, cell.columns),
            },
        }
    }

    fn refer(&mut self, token_at: usize, references: &[Rows], edge: usize, cell: &Cell, band: &mut [u8]) -> Result<()> {
        let mut is_known = [false; MAX_EDGE];
        for rows in references {
            let found = self.reference(token_at, rows.len().saturating_mul(edge))?;
            for (&row, bytes) in rows.iter().zip(found.chunks_exact(edge)) {
                cell.row(band, row).copy_from_slice(bytes);
                is_known.iter_mut().skip(row).take(1).for_each(|known| *known = true);
            }
        }
        for (row, _) in is_known.iter().enumerate().take(edge).filter(|(_, known)| !**known) {
            cell.row(band, row).copy_from_slice(self.take(edge)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(stream: &[u8], height: u8, width: u8) -> Result<Vec<u8>> {
        let src = [&[2, height, 0, 0, 0, width, 0, 0, 0], stream].concat();
        let mut out = vec![0; usize::from(height).saturating_mul(width.into())];
        decompress(&src, &mut out, 4)?;
        Ok(out)
    }

    #[test]
    fn cells_refer_to_rows_before_them() {
        let first: Vec<u8> = (0..16).collect();
        // A literal cell, one with the rows 1, 2 and 3 of it, one of nines, and two rows of the
        // edge.
        let stream = [&[0], &first[..], &[0xe0, 12, 0, 77, 77, 77, 77], &[0x40, 9], &[0, 1, 2, 3, 4]].concat();
        let out = decoded(&stream, 4, 13).unwrap();
        assert_eq!(out[..13], [0, 1, 2, 3, 77, 77, 77, 77, 9, 9, 9, 9, 1]);
        assert_eq!(out[13..26], [4, 5, 6, 7, 4, 5, 6, 7, 9, 9, 9, 9, 2]);
        assert_eq!(out[39..], [12, 13, 14, 15, 12, 13, 14, 15, 9, 9, 9, 9, 4]);
    }

    #[test]
    fn damage_is_an_error() {
        for stream in [&[0, 1, 2][..], &[0xc0, 40, 0], &[0xc0, 1, 0], &[0x17], &[0x40], &[]] {
            assert!(decoded(stream, 4, 4).is_err(), "{stream:?}");
        }
        assert!(decompress(&[2, 4, 0, 0, 0, 5, 0, 0, 0, 0x40, 1], &mut [0; 16], 4).is_err());
        assert!(decompress(&[2, 4, 0, 0, 0, 4, 0, 0, 0, 0x40, 1], &mut [0; 16], 5).is_err());
        assert!(decoded(&[0xe0, 1, 0], 3, 4).is_err());
    }
}
