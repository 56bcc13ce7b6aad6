//! Whatever happens to the command, files are whole, nothing is lost unsaid, and damage is named.

#[path = "../common/mod.rs"]
mod common;

mod append;
mod damage;
mod habits;
mod hostile;
mod losses;
mod outputs;
mod repair;
mod targets;
mod trees;
