// SPDX-License-Identifier: Apache-2.0

//! The library exports the variable: its relocation names the symbol then, and
//! is bound to the same variable as the shim's, as in a program that has both.

fn main() {
    println!("cargo:rerun-if-changed=exports.map");
    println!(
        "cargo:rustc-cdylib-link-arg=-Wl,--version-script={}/exports.map",
        std::env::var("CARGO_MANIFEST_DIR").unwrap()
    );
}
