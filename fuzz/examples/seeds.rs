//! Writes the inputs that the targets start from: `cargo run --example seeds` in this directory.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    blosc_fuzz::seeds::write(&here.join("seeds"), &here.join("../tests/golden"))
}
