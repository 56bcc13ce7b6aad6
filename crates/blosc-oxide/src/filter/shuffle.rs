//! Byte shuffle: a transpose of groups of bytes. The tail that is no whole group stays where it is.

use blosc_kernels::shuffle;

pub(super) fn forward(group: usize, src: &[u8], dst: &mut [u8]) {
    shuffle::shuffle(group, src, dst);
}

pub(super) fn backward(group: usize, src: &[u8], dst: &mut [u8]) {
    shuffle::unshuffle(group, src, dst);
}
