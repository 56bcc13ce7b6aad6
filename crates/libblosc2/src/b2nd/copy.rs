//! Arrays with the items of another one, and its metalayers.

use super::{Array, LAYERS, Plan, drop_array};
use crate::code::{INVALID_PARAM, Outcome};
use crate::schunk::edit::Given;

impl Plan {
    /// A copy of an array. The shape of the plan becomes that of the array.
    pub(crate) fn copied(&mut self, source: &Array) -> Outcome<Box<Array>> {
        let mut shapes = self.shapes();
        let of_source = source.shapes();
        if shapes.shape.len() != of_source.shape.len() {
            return Err(INVALID_PARAM);
        }
        let has_same_chunks = shapes.chunks == of_source.chunks && shapes.blocks == of_source.blocks;
        shapes.shape = of_source.shape;
        shapes.check()?;
        self.set_shapes(&shapes);
        let own = self.metalayers.clone();
        self.take_metalayers(source)?;
        let made = if has_same_chunks {
            self.begin().and_then(|copy| or_drop(copy, |copy| source.copy_chunks(copy)))
        } else {
            self.sliced(source, &vec![0; shapes.shape.len()], &shapes.shape)
        };
        self.metalayers = own;
        or_drop(made?, |copy| source.schunk()?.copy_vlmeta(copy.schunk()?))
    }

    /// The metalayers of the source that the plan does not have itself.
    fn take_metalayers(&mut self, source: &Array) -> Outcome<()> {
        for (name, content) in source.schunk()?.all_meta() {
            let is_there = LAYERS.contains(&name) || self.metalayers.iter().any(|(own, _)| own.as_c_str() == name);
            if !is_there {
                self.metalayers.push((name.to_owned(), content.to_vec()));
            }
        }
        Ok(())
    }
}

/// Goes on with a new array, or frees it.
fn or_drop(array: Box<Array>, go_on: impl FnOnce(&Array) -> Outcome<()>) -> Outcome<Box<Array>> {
    match go_on(&array) {
        Ok(()) => Ok(array),
        Err(code) => {
            drop_array(array);
            Err(code)
        }
    }
}

impl Array {
    /// Appends all chunks to a new array with chunks and blocks of the same shapes.
    fn copy_chunks(&self, copy: &Self) -> Outcome<()> {
        let (sc, target) = (self.schunk()?, copy.schunk()?);
        if sc.typesize != target.typesize {
            return Err(INVALID_PARAM);
        }
        let is_same = sc.makes_chunks_as(target);
        let mut data = vec![0; self.chunk_nbytes()?];
        let len = i32::try_from(data.len()).map_err(|_| INVALID_PARAM)?;
        target.together(|target| {
            for index in 0..sc.count() {
                if is_same || sc.header(index)?.special().is_some() {
                    let chunk = sc.chunk(index)?;
                    // SAFETY: it is a chunk.
                    unsafe { target.append(Given { chunk: chunk.as_ptr().cast_mut(), copy: true }) }?;
                } else {
                    sc.decompress(i64::try_from(index).map_err(|_| INVALID_PARAM)?, &mut data)?;
                    // SAFETY: the buffer has this length.
                    unsafe { target.append_buffer(data.as_ptr().cast(), len) }?;
                }
            }
            Ok(())
        })
    }
}
