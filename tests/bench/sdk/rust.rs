// SPDX-License-Identifier: Apache-2.0

//! Nanoseconds that it takes to enter and leave a span of tracing, with
//! OpenTelemetry's layer alone and with otelctx::layer() after it. The ways are
//! measured in turn, in rounds so short that most are undisturbed; the medians
//! count. Nobody can take an observer away again: its ways are measured last,
//! beside a floor that both times measure, a registry without layers.

use crate::setup;
use opentelemetry::trace::TracerProvider;
use std::hint::black_box;
use std::time::Instant;
use tracing::dispatcher::with_default;
use tracing::field::Empty;
use tracing::{info_span, Dispatch, Span};
use tracing_subscriber::layer::SubscriberExt;

const ROUNDS: usize = 4001;
const SPANS: u32 = 1000;

fn measure(span: &Span) -> f64 {
    let start = Instant::now();

    for _ in 0..SPANS {
        black_box(span).in_scope(|| black_box(()));
    }
    start.elapsed().as_nanos() as f64 / f64::from(SPANS)
}

/// The medians of each span's rounds.
fn medians(spans: &[&Span]) -> Vec<f64> {
    let mut rounds = vec![Vec::new(); spans.len()];

    for _ in 0..ROUNDS {
        for (span, rounds) in spans.iter().zip(&mut rounds) {
            rounds.push(measure(span));
        }
    }
    rounds
        .iter_mut()
        .map(|rounds| {
            rounds.sort_by(f64::total_cmp);
            rounds[ROUNDS / 2]
        })
        .collect()
}

fn span(dispatch: Dispatch) -> Span {
    with_default(&dispatch, || {
        info_span!("bench", http.route = "/cart", rpc.method = Empty)
    })
}

pub fn run() {
    let (provider, _) = setup::provide();
    let sdk =
        || tracing_opentelemetry::layer().with_tracer(provider.tracer("bench"));
    let registry = tracing_subscriber::registry;
    let none = || None::<otelctx::Layer>;

    let floor = span(registry().with(none()).into());
    let alone = span(registry().with(sdk()).with(none()).into());
    let ours = span(registry().with(sdk()).with(otelctx::layer()).into());
    std::env::set_var("OTELCTX_SPAN_ATTRIBUTES", "http.route");
    let asked = span(registry().with(sdk()).with(otelctx::layer()).into());

    let times = medians(&[&floor, &alone, &ours, &asked]);
    let print = |what: &str, time: f64| {
        println!(
            "{what:40} {time:6.1} ns  {:+6.1} ns  {:.2}",
            time - times[1],
            time / times[1]
        );
    };
    print("enter + exit, a registry alone", times[0]);
    print("  and OpenTelemetry's layer", times[1]);
    print("  and otelctx::layer()", times[2]);
    print("  and an attribute", times[3]);
    #[cfg(feature = "observer")]
    {
        otelctx::observe();
        let observed = medians(&[&floor, &alone]);

        print(
            "  otelctx::observe() instead",
            observed[1] * times[0] / observed[0],
        );
    }
}
