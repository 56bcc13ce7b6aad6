//! Blocks that are one value over and over.

/// The byte all of `data` consists of, if it does and there is any.
#[must_use]
pub fn repeated_byte(data: &[u8]) -> Option<u8> {
    let (&first, rest) = data.split_first()?;
    // All bytes equal their neighbour exactly if all equal the first.
    (rest == &data[..rest.len()]).then_some(first)
}

/// Whether `data` holds nothing but zeros; so does an empty slice.
#[must_use]
pub fn is_zero(data: &[u8]) -> bool {
    data.is_empty() || repeated_byte(data) == Some(0)
}

/// Whether `data` is `value` over and over, the last time perhaps cut short. An empty `value` repeats as nothing.
#[must_use]
pub fn repeats_value(data: &[u8], value: &[u8]) -> bool {
    let head = value.len().min(data.len());
    if head == 0 {
        return data.is_empty();
    }
    data[..head] == value[..head] && data[head..] == data[..data.len() - head]
}
