//! What is written comes back, whole and in parts, and is what a plain model of it says.

#[path = "../common/mod.rs"]
mod common;

mod array_model;
mod array_parts;
mod bloscpack;
mod chunks;
mod frame_bytes;
mod npy;
mod packed;
mod partial;
mod streams;
mod super_chunk_model;
mod super_chunks;
