// SPDX-License-Identifier: Apache-2.0

//! Usage: spans serve FILE | steps [observe] | misplaced | corner CASE | bench
//! See server.rs, steps.rs, corners.rs and tests/bench/sdk/rust.rs.

#[path = "../../../bench/sdk/rust.rs"]
mod bench;
mod corners;
mod server;
mod setup;
mod steps;
mod truth;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();

    match arguments[1].as_str() {
        "serve" => server::run(&arguments[2]),
        "steps" => steps::run(arguments.len() > 2),
        "misplaced" => steps::run_misplaced(),
        "corner" => corners::run(&arguments[2]),
        "bench" => bench::run(),
        other => panic!("{other}?"),
    }
}
