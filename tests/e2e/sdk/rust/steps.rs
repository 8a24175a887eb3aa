// SPDX-License-Identifier: Apache-2.0

//! Prints what a reader should see of the main thread at each step: `PID STEP:
//! IDS ATTRIBUTES`, and waits for a line. The ids are those of the SDK's current
//! span.

use crate::setup;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId,
};
use opentelemetry::Context;
use std::ffi::CStr;
use std::panic::{catch_unwind, AssertUnwindSafe};
use tracing::field::Empty;
use tracing::{info_span, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

pub fn step(name: &str, attributes: &str) {
    Context::map_current(|context| {
        let span = context.span();
        let span = span.span_context();

        if span.is_valid() {
            let ids = setup::text(span);
            say(name, format!("{ids} {attributes}").trim_end());
        } else {
            say(name, "detached");
        }
    });
}

pub fn say(name: &str, expected: &str) {
    println!("{} {name}: {expected}", std::process::id());
    if std::io::stdin().read_line(&mut String::new()).unwrap() == 0 {
        std::process::exit(1);
    }
}

fn outer() -> Span {
    info_span!(
        "outer",
        http.route = "/cart",
        rpc.method = Empty,
        cart.items = 3,
        cart.full = true,
        cart.weight = 1.5,
        user.name = ?"Ada",
        not.wanted = 7
    )
}

fn remote() -> Context {
    Context::new().with_remote_span_context(SpanContext::new(
        TraceId::from_bytes([7; 16]),
        SpanId::from_bytes([8; 8]),
        TraceFlags::NOT_SAMPLED,
        true,
        Default::default(),
    ))
}

pub fn run(observe: bool) {
    let (provider, _) = setup::set_up();
    let first = "cart.full=true cart.items=3 cart.weight=1.5 \
                 http.route=/cart";
    let user = "user.name=\"Ada\"";

    #[cfg(feature = "observer")]
    if observe {
        otelctx::observe();
    }
    step("before", "");
    {
        let outer = outer();
        step("not entered", "");
        let _outer = outer.enter();
        step("entered", &format!("{first} {user}"));
        outer.record("rpc.method", "late");
        let all = format!("{first} rpc.method=late {user}");
        step("recorded late", &all);
        outer.record("rpc.method", "later");
        let all = &format!("{first} rpc.method=later {user}");
        step("changed", all);

        let inner = info_span!("inner", rpc.method = "in");
        {
            let _inner = inner.enter();
            step("nested", "rpc.method=in");
            inner.record("rpc.method", "shorter");
            outer.record("not.wanted", 8);
            step("changed when nested", "rpc.method=shorter");
            {
                let _again = outer.enter();
                step("entered again", all);
            }
            step("left again", "rpc.method=shorter");
        }
        step("left", all);

        let second = info_span!("second").entered();
        let third = info_span!("third").entered();
        let second = second.exit();
        step("the outer one left first", "");
        third.exit();
        step("both left", all);
        drop(second);

        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _inner = inner.enter();
            std::panic::resume_unwind(Box::new(()));
        }));
        step("after a panic", all);

        let unsampled = info_span!("unsampled");
        let _ = unsampled.set_parent(remote());
        unsampled.in_scope(|| step("not sampled", ""));

        fork(all);

        let ended = info_span!("ended").entered();
        ended.context().span().end();
        say("ended before it is left", "detached");
        drop(ended);
        step("left when it had ended", all);
        beside(all);
        elsewhere(&outer);
        step("entered and left elsewhere", all);
    }
    step("after", "");
    if observe {
        plain(&provider);
    }
}

/// The span of the first request may be missing or be an outer one; from its end
/// on, nothing is shown.
pub fn run_misplaced() {
    let _provider = setup::misplace();

    info_span!("first").in_scope(|| info_span!("nested").in_scope(|| {}));
    say("after the first", "detached");
    info_span!("second").in_scope(|| say("in the second", "detached"));
    say("after the second", "detached");
}

/// Another part of the program attaches a record of its own, in a span or not.
fn beside(parent: &str) {
    with_other_record(|other| {
        let inner = info_span!("inner", rpc.method = "refused").entered();
        say("beside another record", other);
        inner.record("rpc.method", "refused again");
        say("recorded beside another record", other);
        drop(inner);
        say("left beside another record", other);
    });
    info_span!("inner").in_scope(|| ());
    step("without the other record", parent);
}

/// Where there is a shim: with a record attached that is shown as `other`.
pub fn with_other_record(work: impl FnOnce(&str)) {
    let init: Option<unsafe extern "C" fn(*mut u8, *const u8, *const u8, u8)> =
        find(c"otelctx_record_init");
    let swap: Option<unsafe extern "C" fn(*mut u8, *mut *mut u8)> =
        find(c"otelctx_swap");
    let (Some(init), Some(swap)) = (init, swap) else {
        return;
    };
    let record: &mut [u64; 80] = Box::leak(Box::new([0; 80]));
    let record = record.as_mut_ptr().cast();
    let mut before = std::ptr::null_mut();

    // SAFETY: the types are those of otelctx.h, and the record stays.
    unsafe {
        init(record, [5; 16].as_ptr(), [6; 8].as_ptr(), 1);
        swap(record, &mut before);
        work(&format!("{} {} 1", "05".repeat(16), "06".repeat(8)));
        swap(before, std::ptr::null_mut());
    }
}

fn find<F>(name: &CStr) -> Option<F> {
    // SAFETY: callers give the type of otelctx.h.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());

        (!found.is_null()).then(|| std::mem::transmute_copy(&found))
    }
}

/// A child shows nothing until it enters a span of its own.
fn fork(parent: &str) {
    // SAFETY: this is the only thread.
    let child = unsafe { libc::fork() };

    if child == 0 {
        say("forked", "detached");
        info_span!("child", http.route = "/child")
            .in_scope(|| step("entered in a child", "http.route=/child"));
        std::process::exit(0);
    }
    // SAFETY: it needs no status.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    step("after a fork", parent);
}

fn elsewhere(outer: &Span) {
    std::thread::scope(|scope| {
        scope.spawn(|| outer.in_scope(|| {}));
    });
}

/// The SDK without tracing.
#[cfg(feature = "observer")]
fn plain(provider: &opentelemetry_sdk::trace::SdkTracerProvider) {
    use opentelemetry::trace::{Tracer, TracerProvider};

    let tracer = provider.tracer("plain");
    let outer = Context::new().with_span(tracer.start("outer"));
    let first = outer.clone().attach();
    step("plain", "");
    let inner = outer.with_span(tracer.start_with_context("inner", &outer));
    let second = inner.attach();
    step("plain, nested", "");
    drop(first);
    step("plain, out of order", "");
    drop(second);
    step("plain, left", "");
    let _remote = remote().attach();
    step("plain, of another process", "");
    info_span!("on top", http.route = "/top")
        .in_scope(|| step("tracing within plain", "http.route=/top"));
    step("plain again", "");
}

#[cfg(not(feature = "observer"))]
fn plain(_: &opentelemetry_sdk::trace::SdkTracerProvider) {}
