//! Several handles and processes on one file lose no commit.

#[path = "../common/mod.rs"]
mod common;

mod handles;
mod kill;
mod links;
mod lock;
mod one_writer;
mod readers;
mod reference;
