// SPDX-License-Identifier: Apache-2.0

//! Nanoseconds that it takes to enter and leave a span of tracing, with
//! OpenTelemetry's layer alone and with otelctx::layer() after it. The ways are
//! measured in turn, in rounds so short that most are undisturbed. What one costs
//! more is the median of the differences within a round. Nobody can take an
//! observer away again: it is measured last, beside a floor that both times
//! measure, a registry without these layers.

use crate::setup;
use opentelemetry::trace::TracerProvider;
use std::hint::black_box;
use std::time::Instant;
use tracing::dispatcher::with_default;
use tracing::field::Empty;
use tracing::{info_span, Dispatch, Span};
use tracing_subscriber::layer::{Identity, SubscriberExt};

const ROUNDS: usize = 4001;
const SPANS: u32 = 1000;

fn measure(span: &Span) -> f64 {
    let start = Instant::now();

    for _ in 0..SPANS {
        black_box(span).in_scope(|| black_box(()));
    }
    start.elapsed().as_nanos() as f64 / f64::from(SPANS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median of the first span's rounds, and those of the differences that the
/// others have to it.
fn compare<const N: usize>(spans: [&Span; N]) -> [f64; N] {
    let rounds: Vec<_> = (0..ROUNDS).map(|_| spans.map(measure)).collect();

    std::array::from_fn(|which| {
        let first = |round: &[f64; N]| if which > 0 { round[0] } else { 0.0 };

        median(
            rounds
                .iter()
                .map(|round| round[which] - first(round))
                .collect(),
        )
    })
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

    let floor = span(registry().with(Identity::new()).into());
    let alone = span(registry().with(sdk()).into());
    let ours = span(registry().with(sdk()).with(otelctx::layer()).into());
    std::env::set_var("OTELCTX_SPAN_ATTRIBUTES", "http.route");
    let asked = span(registry().with(sdk()).with(otelctx::layer()).into());

    let [base, layer, attribute, less] =
        compare([&alone, &ours, &asked, &floor]);
    let print = |what: &str, more: f64| {
        println!("{what:36} {more:+7.1} ns  {:.2}", 1.0 + more / base);
    };
    println!("{:36} {base:7.1} ns", "enter + exit, OpenTelemetry's layer");
    print("  and otelctx::layer()", layer);
    print("  and an attribute", attribute);
    print("  a registry alone", less);
    #[cfg(feature = "observer")]
    {
        otelctx::observe();
        print(
            "  otelctx::observe() instead",
            less - compare([&alone, &floor])[1],
        );
    }
}
