// SPDX-License-Identifier: Apache-2.0

use crate::attributes::{self, Keys, Values};
use crate::order::Order;
use crate::sdk;
use crate::shim::Shim;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::Subscriber;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// See [`layer()`].
pub struct Layer(Option<Work>);

struct Work {
    shim: &'static Shim,
    keys: Keys,
    order: Order,
}

/// Shows the SDK's current span while spans of tracing are entered. It belongs
/// after OpenTelemetry's layer:
///
/// ```ignore
/// registry().with(tracing_opentelemetry::layer()...).with(otelctx::layer())
/// ```
///
/// That layer makes the span of tracing the SDK's current one when it is
/// entered, and the one before when it is left; this one looks at the result.
/// So a future shows its span at each poll, on whichever thread, and what
/// becomes current again after guards that were dropped in any order is what
/// the SDK says.
pub fn layer() -> Layer {
    Layer(Shim::get().map(|shim| Work {
        shim,
        keys: Keys::register(shim),
        order: Order::default(),
    }))
}

impl<S> tracing_subscriber::Layer<S> for Layer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(
        &self,
        fields: &Attributes<'_>,
        id: &Id,
        ctx: Context<'_, S>,
    ) {
        let Some(work) = self.0.as_ref().filter(|work| !work.keys.is_empty())
        else {
            return;
        };
        let fields = work.keys.take(|visitor| fields.record(visitor));
        let values = Values::new(sdk::current(), fields);

        if let Some(span) = ctx.span(id) {
            // A second layer has its own there, and insert() panics.
            span.extensions_mut().replace(values);
        }
    }

    fn on_record(&self, id: &Id, fields: &Record<'_>, ctx: Context<'_, S>) {
        let Some(work) = self.0.as_ref().filter(|work| !work.keys.is_empty())
        else {
            return;
        };
        let fields = work.keys.take(|visitor| fields.record(visitor));
        let Some(span) = ctx.span(id) else { return };
        let mut extensions = span.extensions_mut();

        if let Some(values) = extensions.get_mut::<Values>() {
            values.update(fields);
            if work.shim.shows(values.span) {
                work.keys.show_all(work.shim, values);
            }
        }
    }

    #[inline]
    fn on_enter(&self, id: &Id, ctx: Context<'_, S>) {
        let Some(work) = &self.0 else { return };
        let ids = sdk::current();

        work.order.enter(ids.is_some());
        if work.order.is_wrong() {
            return;
        }
        let shown = work.shim.show(ids.as_ref());

        if work.keys.is_empty() {
            return;
        }
        let before = attributes::see(ids.as_ref());

        if let (Some(ids), Some(span)) = (ids, ctx.span(id)) {
            if let Some(values) = span.extensions_mut().get_mut::<Values>() {
                values.entered(&ids, before);
            }
            if shown {
                work.keys.show(work.shim, &ids, Some(span));
            }
        }
    }

    #[inline]
    fn on_exit(&self, _: &Id, ctx: Context<'_, S>) {
        let Some(work) = &self.0 else { return };
        let ids = sdk::current();

        work.order.exit(ids.is_some());
        if work.order.is_wrong() {
            work.shim.show(None);
            return;
        }
        let shown = work.shim.show(ids.as_ref());

        if work.keys.is_empty() {
            return;
        }
        attributes::see(ids.as_ref());
        if let Some(ids) = ids.filter(|_| shown) {
            work.keys.show(work.shim, &ids, ctx.lookup_current());
        }
    }
}
