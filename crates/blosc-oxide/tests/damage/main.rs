//! Damage is found, named and kept to its place; what is whole can be repaired.

#[path = "../common/mod.rs"]
mod common;

mod bloscpack;
mod checksums;
mod partial;
mod passed_on;
mod repair;
mod truncation;
