//! Differences of neighbouring bytes within byte planes, as id 35 has them and as the older id 34
//! does.

use blosc_kernels::bytedelta;

pub(super) fn forward(planes: usize, restarting: bool, src: &[u8], dst: &mut [u8]) {
    if restarting {
        bytedelta::encode_restarting(planes, src, dst);
    } else {
        bytedelta::encode(planes, src, dst);
    }
}

pub(super) fn backward(planes: usize, restarting: bool, src: &[u8], dst: &mut [u8]) {
    if restarting {
        bytedelta::decode_restarting(planes, src, dst);
    } else {
        bytedelta::decode(planes, src, dst);
    }
}
