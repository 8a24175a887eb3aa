// SPDX-License-Identifier: Apache-2.0

use crate::sdk::v33;
use crate::shim::Shim;
use opentelemetry_0_33::context::{ContextObserver, GlobalContextObserver};
use opentelemetry_0_33::Context;
use std::sync::Arc;

struct Observer(&'static Shim);

impl ContextObserver for Observer {
    fn on_context_enter(&self, _: &Context, to: &Context) {
        self.0.show(v33::of(to).as_ref());
    }

    fn on_context_exit(&self, _: &Context, to: &Context) {
        self.0.show(v33::of(to).as_ref());
    }
}

/// Shows the SDK's current span, whoever made it current: for programs that use
/// OpenTelemetry without tracing. A program has one observer: after another one
/// was set, this does nothing but log.
pub fn observe() {
    if let Some(shim) = Shim::get() {
        GlobalContextObserver::set(Arc::new(Observer(shim)));
    }
}
