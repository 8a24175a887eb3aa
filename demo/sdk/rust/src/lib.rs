// SPDX-License-Identifier: Apache-2.0

//! Shows readers outside the process the OpenTelemetry span that is current on
//! each thread, by the preloaded shim, libotelctx_preload.so. Where that is not
//! loaded, or is disabled, all of this does nothing. See README.md.

mod attributes;
mod layer;
#[cfg(feature = "observer")]
mod observer;
mod order;
mod resource;
mod sdk;
mod shim;

pub use layer::{layer, Layer};
#[cfg(feature = "observer")]
pub use observer::observe;
pub use resource::{processor, resource, Processor, Text};
