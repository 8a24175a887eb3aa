// SPDX-License-Identifier: Apache-2.0

//! The writer's executable exports the variable, as libdatadog asks of it. The
//! program for the kit contains the kit's library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!(
        "cargo:rustc-link-arg-bin=libdatadog_writer=\
         -Wl,--export-dynamic-symbol=otel_thread_ctx_v1"
    );
    let folder = std::env::var("OTELCTX_KIT_FOLDER").expect("tests/e2e/peers.sh sets it");
    println!("cargo:rerun-if-env-changed=OTELCTX_KIT_FOLDER");
    println!("cargo:rerun-if-changed={folder}/libotelctx_kit.a");
    println!("cargo:rustc-link-arg-bin=libdatadog_kit={folder}/libotelctx_kit.a");
}
