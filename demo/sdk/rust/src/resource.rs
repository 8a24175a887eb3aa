// SPDX-License-Identifier: Apache-2.0

use crate::shim::{warn, Shim};
use std::sync::Once;

/// The keys and values of a resource, of any version.
pub trait Text {
    /// None: an array, which has no place in a process context.
    fn text(&self) -> Option<String>;
}

/// A span processor for `SdkTracerProvider::builder().with_span_processor()`.
/// It passes the provider's resource to [`resource()`], and detaches a span
/// that ends while it is still current.
#[derive(Debug, Default)]
pub struct Processor(());

/// For `with_span_processor()`, see [`Processor`].
pub fn processor() -> Processor {
    Processor(())
}

/// Makes an SDK's `&Resource` the process context, if `OTELCTX_RESOURCE=sdk`.
/// Only the first one counts. [`Processor`] calls it.
pub fn resource<'a, K, V>(resource: impl IntoIterator<Item = (&'a K, &'a V)>)
where
    K: Text + 'a,
    V: Text + 'a,
{
    static FIRST: Once = Once::new();
    let shim = match Shim::get() {
        Some(shim) => shim,
        None => return,
    };

    FIRST.call_once(|| {
        if !is_wanted() {
            return;
        }
        let attributes = resource.into_iter();

        shim.publish(
            attributes
                .filter_map(|(key, value)| Some((key.text()?, value.text()?)))
                .collect(),
        );
    });
}

fn is_wanted() -> bool {
    match std::env::var_os("OTELCTX_RESOURCE") {
        None => false,
        Some(value) if value.is_empty() => false,
        Some(value) if value == "sdk" => true,
        Some(value) => {
            warn(&format!(
                "OTELCTX_RESOURCE: unknown value {:?}, ignored",
                value.to_string_lossy()
            ));
            false
        }
    }
}
