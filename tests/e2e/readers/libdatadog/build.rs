// SPDX-License-Identifier: Apache-2.0

//! The writer's executable exports the variable, as libdatadog asks of it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!(
        "cargo:rustc-link-arg-bin=libdatadog_writer=\
         -Wl,--export-dynamic-symbol=otel_thread_ctx_v1"
    );
}
