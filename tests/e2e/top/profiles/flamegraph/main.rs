// SPDX-License-Identifier: Apache-2.0

//! inferno's flame graph of the folded stacks on standard input, as SVG.

use inferno::flamegraph::{from_reader, Options};
use std::io::{stdin, stdout};

fn main() {
    let mut options = Options::default();

    options.count_name = "us".to_string();
    options.min_width = 0.0;
    from_reader(&mut options, stdin().lock(), stdout().lock())
        .expect("a flame graph");
}
