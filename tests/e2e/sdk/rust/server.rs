// SPDX-License-Identifier: Apache-2.0

//! Serves on a port of 127.0.0.1 that it prints. Its handlers compute and wait
//! in turn, and write what they work for to a file.

use crate::setup;
use crate::truth::Truth;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::routing::get;
use axum::Router;
use axum_tracing_opentelemetry::middleware::OtelAxumLayer;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::{spawn, spawn_blocking};
use tracing::{info_span, Instrument, Span};

const WORK: &str = "/work/{number}";

/// The trace that the client asked for, whatever the SDK made of it.
fn wanted(headers: &HeaderMap) -> [u8; 16] {
    let text = headers["traceparent"].to_str().unwrap();
    let id = text.split('-').nth(1).unwrap();

    u128::from_str_radix(id, 16).unwrap().to_be_bytes()
}

fn span_id() -> [u8; 8] {
    setup::current_span().span_id().to_bytes()
}

/// Answers with its span and the one within it.
async fn work(
    State(truth): State<Truth>,
    Path(number): Path<u64>,
    headers: HeaderMap,
) -> String {
    let trace = wanted(&headers);
    let span = span_id();

    truth.compute(trace, span, WORK);
    tokio::time::sleep(Duration::from_millis(number % 3)).await;
    truth.compute(trace, span, WORK);
    tokio::fs::read("/proc/self/stat").await.unwrap();
    truth.compute(trace, span, WORK);

    let child = part(truth, trace)
        .instrument(info_span!("part", http.route = "/part"))
        .await;

    truth.compute(trace, span, WORK);
    spawn(
        async move {
            tokio::task::yield_now().await;
            truth.compute(trace, span, WORK);
        }
        .in_current_span(),
    )
    .await
    .unwrap();

    let current = Span::current();

    spawn_blocking(move || {
        current.in_scope(|| truth.compute(trace, span, WORK));
    })
    .await
    .unwrap();
    truth.compute(trace, span, WORK);
    setup::text(&setup::current_span()) + " " + &child
}

async fn part(truth: Truth, trace: [u8; 16]) -> String {
    let span = span_id();

    for _ in 0..2 {
        truth.compute(trace, span, "/part");
        tokio::task::yield_now().await;
    }
    setup::text(&setup::current_span())
}

async fn serve(truth: Truth, exporter: setup::Exporter) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let app = Router::new()
        .route(WORK, get(work))
        .with_state(truth)
        .layer(OtelAxumLayer::default())
        .route("/spans", get(|| async move { exporter.lines() }));

    println!("{}", listener.local_addr().unwrap().port());
    axum::serve(listener, app).await.unwrap();
}

pub fn run(file: &str) {
    let (_provider, exporter) = setup::set_up();

    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap()
        .block_on(serve(Truth::open(file), exporter));
}
