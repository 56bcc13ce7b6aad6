//! Codewords of LIZv1: levels 20 to 29 and 40 to 49.

use super::LizardError;
use super::block::Parts;
use super::fields::Fields;
use super::output::Output;
use crate::lz::hint::likely;
use crate::lz::vectors::Vectors;

/// Tokens below this one are matches with an offset of three bytes, without literals.
const MIN_SHORT: u8 = 32;
/// The token of such a match whose length goes on among the literals.
const EXTENDED_FAR: u8 = 31;
/// The length of such a match with token 0.
const MIN_FAR_MATCH: usize = 16;
/// In other tokens: the offset is that of the match before.
const SAME_OFFSET: u8 = 0x80;
/// A length of a run of literals that goes on among them.
const EXTENDED_RUN: usize = 7;
/// A length of a match that goes on among the literals.
const EXTENDED_MATCH: usize = 15;

/// Decodes a block. What is left of the literals at the end is data.
#[inline(always)]
pub(super) fn decode<V: Vectors>(vectors: V, parts: Parts<'_>, output: &mut Output<'_>) -> Result<(), LizardError> {
    let mut literals = Fields::new(parts.literals);
    let mut offsets16 = Fields::new(parts.offsets16);
    let mut offsets24 = Fields::new(parts.offsets24);
    let mut offset = 0;
    for &token in parts.tokens {
        let len = if likely(token >= MIN_SHORT) {
            let run = run_length(&mut literals, token)?;
            output.literals(vectors, &mut literals, run)?;
            if token & SAME_OFFSET == 0 {
                offset = offsets16.u16()?;
            }
            match match_length(&mut literals, token)? {
                // Literals before a match with an offset of three bytes, which has none of its own.
                0 if run > 0 => continue,
                // No writer makes it. One coded byte can stand for 131,072 of them, which would be
                // work without data.
                0 => return Err(LizardError::IdleToken),
                len => len,
            }
        } else {
            offset = offsets24.u24()?;
            far_match_length(&mut literals, token)?
        };
        output.repeat(vectors, offset, len)?;
    }
    let rest = literals.len();
    output.literals(vectors, &mut literals, rest)
}

#[inline(always)]
fn run_length(literals: &mut Fields<'_>, token: u8) -> Result<usize, LizardError> {
    match usize::from(token & 7) {
        EXTENDED_RUN => Ok(EXTENDED_RUN + literals.extension()?),
        bits => Ok(bits),
    }
}

#[inline(always)]
fn match_length(literals: &mut Fields<'_>, token: u8) -> Result<usize, LizardError> {
    match usize::from(token >> 3 & 15) {
        EXTENDED_MATCH => Ok(EXTENDED_MATCH + literals.extension()?),
        bits => Ok(bits),
    }
}

#[inline(always)]
fn far_match_length(literals: &mut Fields<'_>, token: u8) -> Result<usize, LizardError> {
    let more = if token == EXTENDED_FAR { literals.extension()? } else { 0 };
    Ok(MIN_FAR_MATCH + usize::from(token) + more)
}
