// SPDX-License-Identifier: Apache-2.0

//! What few programs do with layers and threads, a case each.

use crate::setup;
use crate::steps::{say, step, with_other_record};
use opentelemetry::trace::TracerProvider;
use tracing::{debug_span, info_span};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{reload, Layer};

pub fn run(case: &str) {
    match case {
        "twice" => twice(),
        "reload" => reload_within_spans(),
        "filtered" => filtered(),
        "beside" => beside(),
        other => panic!("{other}?"),
    }
}

/// OpenTelemetry's layer takes spans of the level INFO alone.
fn set_up_filtered() -> impl Sized {
    let (provider, _) = setup::provide();

    tracing_subscriber::registry()
        .with(
            tracing_opentelemetry::layer()
                .with_tracer(provider.tracer("shop"))
                .with_filter(LevelFilter::INFO),
        )
        .with(otelctx::layer())
        .init();
    provider
}

fn twice() {
    let (provider, _) = setup::provide();

    tracing_subscriber::registry()
        .with(
            tracing_opentelemetry::layer().with_tracer(provider.tracer("shop")),
        )
        .with(otelctx::layer())
        .with(otelctx::layer())
        .init();
    info_span!("outer", http.route = "/cart")
        .in_scope(|| step("in a span", "http.route=/cart"));
    step("left", "");
}

/// The layer comes while two spans are entered.
fn reload_within_spans() {
    let (provider, _) = setup::provide();
    let (layer, handle) = reload::Layer::new(None::<otelctx::Layer>);

    tracing_subscriber::registry()
        .with(
            tracing_opentelemetry::layer().with_tracer(provider.tracer("shop")),
        )
        .with(layer)
        .init();
    let outer = info_span!("outer").entered();
    let inner = info_span!("inner").entered();

    handle.reload(Some(otelctx::layer())).unwrap();
    drop(inner);
    step("the inner one left", "");
    drop(outer);
    step("both left", "");
    info_span!("after").in_scope(|| step("in a span", ""));
}

/// A span that OpenTelemetry does not know, made elsewhere, has a route.
fn filtered() {
    let _provider = set_up_filtered();
    let unknown = debug_span!("unknown", http.route = "/unknown");

    info_span!("known").in_scope(|| {
        unknown.in_scope(|| step("in a span that is not known", ""));
        step("left", "");
    });
    info_span!("known", http.route = "/cart").in_scope(|| {
        unknown.in_scope(|| ());
        step("left again", "http.route=/cart");
    });
}

/// A span is left while a record of another part of the program is attached.
fn beside() {
    let (_provider, _) = setup::set_up();
    let span = info_span!("outer").entered();

    step("in a span", "");
    with_other_record(|other| {
        drop(span);
        say("left beside another record", other);
    });
    info_span!("next").in_scope(|| step("in the next", ""));
    step("left", "");
}
