//! The bytedelta filter: differences of neighbouring bytes within each of `group` channels.
//!
//! A channel is `n / group` consecutive bytes, and each starts anew. What is left after the last
//! channel is copied.

use crate::running::{Sum, accumulate_into};

/// Bytes after which the restarting variant forgets its predecessor, in the remainder of a channel.
const RESTART_WIDTH: usize = 16;

/// Encodes `src` into `dst` (filter 35).
///
/// # Panics
/// If the lengths differ or `group` is 0.
pub fn encode(group: usize, src: &[u8], dst: &mut [u8]) {
    each_channel(group, src, dst, encode_run);
}

/// Undoes [`encode`].
///
/// # Panics
/// If the lengths differ or `group` is 0.
pub fn decode(group: usize, src: &[u8], dst: &mut [u8]) {
    each_channel(group, src, dst, decode_run);
}

/// Encodes as filter 34 does: the bytes of a channel past its last multiple of 16 start anew from
/// 0.
///
/// # Panics
/// If the lengths differ or `group` is 0.
pub fn encode_restarting(group: usize, src: &[u8], dst: &mut [u8]) {
    each_channel(group, src, dst, |src, dst| each_part(src, dst, encode_run));
}

/// Undoes [`encode_restarting`].
///
/// # Panics
/// If the lengths differ or `group` is 0.
pub fn decode_restarting(group: usize, src: &[u8], dst: &mut [u8]) {
    each_channel(group, src, dst, |src, dst| each_part(src, dst, decode_run));
}

fn each_channel(group: usize, src: &[u8], dst: &mut [u8], run: impl Fn(&[u8], &mut [u8])) {
    assert!(group > 0, "the group size is 0");
    assert_eq!(src.len(), dst.len(), "source and destination differ in length");
    let channel = src.len() / group;
    let whole = channel * group;
    dst[whole..].copy_from_slice(&src[whole..]);
    if channel == 0 {
        return;
    }
    for (src, dst) in src[..whole].chunks_exact(channel).zip(dst.chunks_exact_mut(channel)) {
        run(src, dst);
    }
}

fn each_part(src: &[u8], dst: &mut [u8], run: impl Fn(&[u8], &mut [u8])) {
    let restart = src.len() - src.len() % RESTART_WIDTH;
    let (src_head, src_rest) = src.split_at(restart);
    let (dst_head, dst_rest) = dst.split_at_mut(restart);
    run(src_head, dst_head);
    run(src_rest, dst_rest);
}

fn encode_run(src: &[u8], dst: &mut [u8]) {
    let (Some((first, rest)), Some(&head)) = (dst.split_first_mut(), src.first()) else { return };
    *first = head;
    for ((out, &byte), &before) in rest.iter_mut().zip(&src[1..]).zip(src) {
        *out = byte.wrapping_sub(before);
    }
}

fn decode_run(src: &[u8], dst: &mut [u8]) {
    accumulate_into::<Sum>(src, dst);
}
