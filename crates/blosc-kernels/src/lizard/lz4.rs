//! Codewords of LZ4: levels 10 to 19 and 30 to 39.

use super::LizardError;
use super::block::Parts;
use super::fields::Fields;
use super::output::Output;
use crate::lz::vectors::Vectors;

/// A length in the token that goes on among the literals.
const EXTENDED: usize = 15;
/// The shortest match.
const MIN_MATCH: usize = 4;

/// Decodes a block: a token has the length of a run of literals in its lower half and that of a
/// match in its upper half. Offsets are among the literals; what is left of these at the end is
/// data.
#[inline(always)]
pub(super) fn decode<V: Vectors>(vectors: V, parts: Parts<'_>, output: &mut Output<'_>) -> Result<(), LizardError> {
    let mut literals = Fields::new(parts.literals);
    for &token in parts.tokens {
        let run = length(&mut literals, usize::from(token & 15))?;
        output.literals(vectors, &mut literals, run)?;
        let offset = literals.u16()?;
        let len = MIN_MATCH + length(&mut literals, usize::from(token >> 4))?;
        output.repeat(vectors, offset, len)?;
    }
    let rest = literals.len();
    output.literals(vectors, &mut literals, rest)
}

/// The length of which the token has `bits`.
#[inline(always)]
fn length(literals: &mut Fields<'_>, bits: usize) -> Result<usize, LizardError> {
    if bits < EXTENDED { Ok(bits) } else { Ok(EXTENDED + literals.extension()?) }
}
