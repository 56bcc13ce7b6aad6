//! Positions in arrays: as one number, and as one for each axis.

use c_boundary::memory;

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_unidim_to_multidim(ndim: u8, shape: *mut i64, i: i64, index: *mut i64) {
    // SAFETY: the contract of this function.
    let shape = unsafe { memory::values(shape.cast_const(), ndim.into()) };
    // SAFETY: the contract of this function.
    let index = unsafe { memory::values_mut(index, ndim.into()) };
    if let (Some(shape), Some(index)) = (shape, index) {
        let mut rest = i;
        for (place, &len) in index.iter_mut().zip(shape).rev() {
            *place = rest.checked_rem(len).unwrap_or(0);
            rest = rest.checked_div(len).unwrap_or(0);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_multidim_to_unidim(index: *const i64, ndim: i8, strides: *const i64, i: *mut i64) {
    let ndim = usize::try_from(ndim).unwrap_or_default();
    // SAFETY: the contract of this function.
    let index = unsafe { memory::values(index, ndim) }.unwrap_or_default();
    // SAFETY: the contract of this function.
    let strides = unsafe { memory::values(strides, ndim) }.unwrap_or_default();
    let position =
        index.iter().zip(strides).fold(0_i64, |sum, (&at, &stride)| sum.wrapping_add(at.wrapping_mul(stride)));
    // SAFETY: the contract of this function.
    unsafe { memory::store(i, position) };
}
