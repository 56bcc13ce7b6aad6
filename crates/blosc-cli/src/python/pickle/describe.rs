//! The types of pickled arrays, as NumPy describes them in an .npy file.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::super::tensor::quote;
use super::{Machine, Node, Place, corrupt, unsupported};
use blosc_oxide::{ItemOrder, NpyHeader, Result};
use std::collections::HashMap;

/// The longest description of a type.
const MAX_DESCRIPTION: usize = 1 << 20;

impl<'a> Machine<'a> {
    /// Writes a type as NumPy describes it in an .npy file.
    pub(super) fn describe(&self, text: &mut String, dtype: Place, depth: usize) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| corrupt("types are too deep inside each other"))?;
        if text.len() > MAX_DESCRIPTION {
            return Err(unsupported(&format!("a type with a description of more than {MAX_DESCRIPTION} bytes")));
        }
        let Node::DType { name, state } = self.node(dtype) else { return Err(corrupt("a type is needed")) };
        let [_, byte_order, _, names, fields, itemsize, _, _, metadata @ ..] = &**state else {
            return Err(unsupported(&format!("type {name:?} without a state")));
        };
        if let (Node::Tuple(names), Node::Dict(fields)) = (self.node(*names), self.node(*fields)) {
            return self.describe_fields(text, names, fields, self.as_u64(*itemsize)?, depth);
        }
        let unit = metadata.first().map_or(Ok(String::new()), |metadata| self.unit(*metadata))?;
        quote(text, &format!("{}{name}{unit}", self.as_text(*byte_order)?));
        Ok(())
    }

    /// The unit of times, such as `[25s]`.
    fn unit(&self, metadata: Place) -> Result<String> {
        let Node::Tuple(parts) = self.node(metadata) else { return Ok(String::new()) };
        let [_, unit] = &**parts else { return Ok(String::new()) };
        match &*self.as_tuple(*unit)? {
            [unit, count, ..] => {
                let (unit, count) = (self.as_text(*unit)?, self.as_u64(*count)?);
                Ok(match (unit, count) {
                    ("generic", _) => String::new(),
                    (_, 1) => format!("[{unit}]"),
                    _ => format!("[{count}{unit}]"),
                })
            }
            _ => Err(corrupt("a time without a unit")),
        }
    }

    /// The fields of an item in the order of their places, with what is between them as fields
    /// without a name.
    fn describe_fields(
        &self,
        text: &mut String,
        names: &[Place],
        fields: &[(Place, Place)],
        itemsize: u64,
        depth: usize,
    ) -> Result<()> {
        // A field is there by its name, and once more by its title.
        if fields.len() > names.len().saturating_mul(2) {
            return Err(corrupt(&format!("{} fields with {} names", fields.len(), names.len())));
        }
        let by_name = fields.iter().map(|(name, field)| Ok((self.as_text(*name)?, *field)));
        let by_name = by_name.collect::<Result<HashMap<&'a str, Place>>>()?;
        let mut placed = Vec::new();
        for name in names {
            let name = self.as_text(*name)?;
            let field = by_name.get(name).ok_or_else(|| corrupt(&format!("field {name:?} is missing")))?;
            let field = self.as_tuple(*field)?;
            let [dtype, offset, title @ ..] = &*field else { return Err(corrupt("a field without a place")) };
            placed.push((self.as_u64(*offset)?, *dtype, name, title.first().copied()));
        }
        placed.sort_by_key(|(offset, ..)| *offset);
        let mut end = 0;
        text.push('[');
        for (offset, dtype, name, title) in placed {
            pad(text, end, offset)?;
            text.push('(');
            match title.map(|title| self.as_text(title)).transpose()? {
                Some(title) => {
                    text.push('(');
                    quote(text, title);
                    text.push_str(", ");
                    quote(text, name);
                    text.push(')');
                }
                None => quote(text, name),
            }
            text.push_str(", ");
            let start = text.len();
            self.describe_inner(text, dtype, depth)?;
            let described = format!("[('', {})]", text.get(start..).unwrap_or_default());
            let size = NpyHeader::new(&described, [], ItemOrder::C)?.itemsize() as u64;
            end = offset.saturating_add(size);
            text.push_str("), ");
        }
        pad(text, end, itemsize)?;
        text.push(']');
        Ok(())
    }

    /// The type of a field, which may be an array itself.
    fn describe_inner(&self, text: &mut String, dtype: Place, depth: usize) -> Result<()> {
        if let Node::DType { state, .. } = self.node(dtype)
            && let [_, _, inner, ..] = &**state
            && let Node::Tuple(inner) = self.node(*inner)
        {
            let [base, shape] = &**inner else { return Err(corrupt("an array in a field without a shape")) };
            self.describe(text, *base, depth)?;
            text.push_str(", (");
            for length in self.as_tuple(*shape)?.iter() {
                text.push_str(&format!("{},", self.as_u64(*length)?));
            }
            text.push(')');
            return Ok(());
        }
        self.describe(text, dtype, depth)
    }
}

/// Bytes without a meaning between two places.
fn pad(text: &mut String, from: u64, to: u64) -> Result<()> {
    match to.checked_sub(from) {
        Some(0) => {}
        Some(gap) => text.push_str(&format!("('', '|V{gap}'), ")),
        None => return Err(unsupported("fields that overlap, which an .npy file cannot have")),
    }
    Ok(())
}
