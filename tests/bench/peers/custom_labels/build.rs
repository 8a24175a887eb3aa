// SPDX-License-Identifier: Apache-2.0

//! The library exports the variable, as the crate asks of a program: readers look
//! for its name.

fn main() {
    println!("cargo:rerun-if-changed=exports.map");
    println!(
        "cargo:rustc-cdylib-link-arg=-Wl,--version-script={}/exports.map",
        std::env::var("CARGO_MANIFEST_DIR").unwrap()
    );
}
