// SPDX-License-Identifier: Apache-2.0

//! OpenTelemetry as programs set it up, with an exporter in memory.

use opentelemetry::trace::{SpanContext, TraceContextExt, TracerProvider};
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use opentelemetry_sdk::Resource;
use std::sync::{Arc, Mutex};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

#[derive(Clone, Debug, Default)]
pub struct Exporter(Arc<Mutex<Vec<String>>>);

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(batch.iter().map(|span| {
            format!("{} {}", text(&span.span_context), span.parent_span_id)
        }));
        Ok(())
    }
}

impl Exporter {
    /// A line for each span: trace, span, flags, parent.
    pub fn lines(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

/// Trace, span and flags, as otelctx-read has them.
pub fn text(span: &SpanContext) -> String {
    format!(
        "{} {} {}",
        span.trace_id(),
        span.span_id(),
        span.trace_flags().to_u8()
    )
}

pub fn set_up() -> (SdkTracerProvider, Exporter) {
    let (provider, exporter) = provide();

    tracing_subscriber::registry()
        .with(
            tracing_opentelemetry::layer().with_tracer(provider.tracer("shop")),
        )
        .with(otelctx::layer())
        .init();
    (provider, exporter)
}

/// With the layers in the wrong order.
pub fn misplace() -> SdkTracerProvider {
    let (provider, _) = provide();

    tracing_subscriber::registry()
        .with(otelctx::layer())
        .with(
            tracing_opentelemetry::layer().with_tracer(provider.tracer("shop")),
        )
        .init();
    provider
}

pub fn provide() -> (SdkTracerProvider, Exporter) {
    let exporter = Exporter::default();
    let sizes = vec![StringValue::from("S"), StringValue::from("L")];
    let resource = Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", "shop"),
            KeyValue::new("service.instance.id", "till-7"),
            KeyValue::new("shop.tills", 12),
            KeyValue::new("shop.open", true),
            KeyValue::new("shop.sizes", Value::Array(Array::String(sizes))),
        ])
        .build();
    let provider = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_span_processor(otelctx::processor())
        .with_simple_exporter(exporter.clone())
        .build();

    opentelemetry::global::set_text_map_propagator(
        TraceContextPropagator::new(),
    );
    (provider, exporter)
}

/// What the SDK calls the current span of tracing.
pub fn current_span() -> SpanContext {
    let context = tracing::Span::current().context();
    let span = context.span().span_context().clone();

    span
}
