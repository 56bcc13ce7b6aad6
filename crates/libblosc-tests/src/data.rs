//! What is compressed.

use testkit::formula::generate;
use testkit::serde_json::json;

/// Data of several kinds: numbers that walk, text, noise, zeros, and all of that in turn.
#[must_use]
pub fn data_sets() -> Vec<Vec<u8>> {
    let walk = json!({"kind": "walk", "n": 50_000, "w": 4, "seed": 1});
    let text = json!({"kind": "text", "nbytes": 120_007, "seed": 2});
    let noise = json!({"kind": "rand", "nbytes": 90_001, "seed": 3});
    let zeros = json!({"kind": "zeros", "nbytes": 70_000});
    let all = [json!([walk]), json!([text]), json!([noise]), json!([zeros]), json!([walk, noise, zeros, text])];
    all.iter().map(|formula| generate(formula).expect("a formula that is known")).collect()
}
