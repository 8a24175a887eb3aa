// SPDX-License-Identifier: Apache-2.0

//! The versions of OpenTelemetry: the same names, in crates that are strangers
//! to each other.

use crate::shim::Ids;

macro_rules! version {
    ($feature:literal, $name:ident, $api:ident, $sdk:ident) => {
        #[cfg(feature = $feature)]
        pub(crate) mod $name {
            use super::Ids;
            use crate::resource::{Processor, Text};
            use crate::shim::Shim;
            use std::time::Duration;
            use $api::trace::{SpanContext, TraceContextExt};
            use $api::{Context, Key, Value};
            use $sdk::error::OTelSdkResult;
            use $sdk::trace::{Span, SpanData, SpanProcessor};
            use $sdk::Resource;

            fn ids(span: &SpanContext) -> Option<Ids> {
                span.is_valid().then(|| Ids {
                    trace_id: span.trace_id().to_bytes(),
                    span_id: span.span_id().to_bytes(),
                    flags: span.trace_flags().to_u8(),
                })
            }

            #[inline]
            pub(crate) fn of(context: &Context) -> Option<Ids> {
                ids(context.span().span_context())
            }

            #[inline]
            pub(crate) fn current() -> Option<Ids> {
                Context::map_current(of)
            }

            impl Text for Key {
                fn text(&self) -> Option<String> {
                    Some(self.to_string())
                }
            }

            impl Text for Value {
                fn text(&self) -> Option<String> {
                    match self {
                        Self::Bool(_)
                        | Self::I64(_)
                        | Self::F64(_)
                        | Self::String(_) => Some(self.to_string()),
                        _ => None,
                    }
                }
            }

            impl SpanProcessor for Processor {
                fn on_start(&self, _: &mut Span, _: &Context) {}

                fn on_end(&self, span: SpanData) {
                    let ended = ids(&span.span_context);

                    if let (Some(shim), Some(ended)) = (Shim::get(), ended) {
                        if shim.shows(ended.span()) {
                            shim.show(None);
                        }
                    }
                }

                fn force_flush(&self) -> OTelSdkResult {
                    Ok(())
                }

                fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
                    Ok(())
                }

                fn set_resource(&mut self, resource: &Resource) {
                    crate::resource(resource);
                }
            }
        }
    };
}

version!(
    "opentelemetry-0.31",
    v31,
    opentelemetry_0_31,
    opentelemetry_sdk_0_31
);
version!(
    "opentelemetry-0.32",
    v32,
    opentelemetry_0_32,
    opentelemetry_sdk_0_32
);
version!(
    "opentelemetry-0.33",
    v33,
    opentelemetry_0_33,
    opentelemetry_sdk_0_33
);

/// The span that is current on this thread, by the first version that has one.
#[inline]
pub(crate) fn current() -> Option<Ids> {
    let found = None;

    #[cfg(feature = "opentelemetry-0.33")]
    let found = found.or_else(v33::current);
    #[cfg(feature = "opentelemetry-0.32")]
    let found = found.or_else(v32::current);
    #[cfg(feature = "opentelemetry-0.31")]
    let found = found.or_else(v31::current);
    found
}
