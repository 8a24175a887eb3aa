// SPDX-License-Identifier: Apache-2.0

//! libdatadog's writers of thread contexts and process contexts, as functions
//! that dlsym(3) finds. They add nothing but what turns C's arguments into
//! Rust's.

use libdd_library_config::otel_process_ctx;
use libdd_library_config::tracer_metadata::{ThreadLocalMetadata, TracerMetadata};
use libdd_otel_thread_ctx::linux::{OwnedThreadContext, ThreadContext};
use libdd_trace_protobuf::opentelemetry::proto::common::v1::{any_value, AnyValue, ProcessContext};
use std::ptr::NonNull;
use std::{array, mem, slice, str};

/// `struct peer_attr` of threads.c.
#[repr(C)]
pub struct Attr {
    key: u8,
    value: *const u8,
    size: usize,
}

/// `struct peer_context` of threads.c.
#[repr(C)]
pub struct Context {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    flags: u8,
    count: u8,
    attrs: [Attr; 4],
}

impl Attr {
    fn pair(&self) -> (u8, &str) {
        let value = unsafe { slice::from_raw_parts(self.value, self.size) };
        (self.key, unsafe { str::from_utf8_unchecked(value) })
    }
}

/// Passes a context on: the span is its own local root.
macro_rules! pass {
    ($context:expr, $call:path $(, $first:expr)?) => {{
        let c = unsafe { &*$context };
        let (trace_id, span_id, flags) = (c.trace_id, c.span_id, c.flags);
        if c.count == 0 {
            $call($($first,)? trace_id, span_id, flags, span_id, &[])
        } else {
            let attrs: [(u8, &str); 4] = array::from_fn(|i| c.attrs[i].pair());
            $call($($first,)? trace_id, span_id, flags, span_id, &attrs)
        }
    }};
}

/// A new record, attached.
#[no_mangle]
pub extern "C" fn libdatadog_attach_new(context: *const Context) {
    mem::forget(pass!(context, OwnedThreadContext::new).attach());
}

#[no_mangle]
pub extern "C" fn libdatadog_detach_and_free() {
    drop(OwnedThreadContext::detach());
}

#[no_mangle]
pub extern "C" fn libdatadog_detach_and_keep() {
    mem::forget(OwnedThreadContext::detach());
}

/// A record that libdatadog_attach() and libdatadog_write_and_attach() take.
#[no_mangle]
pub extern "C" fn libdatadog_record(context: *const Context) -> NonNull<ThreadContext> {
    pass!(context, OwnedThreadContext::new).into_opaque_ptr()
}

/// # Safety
/// The record is of libdatadog_record() and not attached.
#[no_mangle]
pub unsafe extern "C" fn libdatadog_attach(record: NonNull<ThreadContext>) {
    mem::forget(OwnedThreadContext::from_opaque_ptr(record).attach());
}

/// # Safety
/// The record is of libdatadog_record().
#[no_mangle]
pub unsafe extern "C" fn libdatadog_write_and_attach(
    record: NonNull<ThreadContext>,
    context: *const Context,
) {
    mem::forget(pass!(
        context,
        OwnedThreadContext::update_and_attach,
        record
    ));
}

/// Into the record that is attached; if there is none, into a new one.
#[no_mangle]
pub extern "C" fn libdatadog_update(context: *const Context) {
    pass!(context, OwnedThreadContext::update)
}

/// The same attributes as processes.c has the shim publish.
fn new_process_context() -> ProcessContext {
    let keys = ["http.route", "http.request.method", "user.id"];
    let text = |text: &str| Some(text.to_owned());
    let metadata = TracerMetadata {
        runtime_id: text("6ba7b810-9dad-41d1-80b4-00c04fd430c8"),
        service_name: text("bench"),
        service_env: text("prod"),
        service_version: text("1"),
        hostname: "bench".to_owned(),
        tracer_language: "c".to_owned(),
        tracer_version: "1".to_owned(),
        threadlocal_metadata: Some(ThreadLocalMetadata {
            attribute_keys: keys.map(str::to_owned).to_vec(),
            ..Default::default()
        }),
        ..Default::default()
    };
    metadata.to_otel_process_ctx()
}

#[no_mangle]
pub extern "C" fn libdatadog_process_new() -> *mut ProcessContext {
    Box::into_raw(Box::new(new_process_context()))
}

/// Changes service.version, as otelctx_process_set() does.
///
/// # Safety
/// The context is of libdatadog_process_new().
#[no_mangle]
pub unsafe extern "C" fn libdatadog_process_set_version(context: *mut ProcessContext, letter: u8) {
    let resource = (*context).resource.as_mut().unwrap();
    let version = resource
        .attributes
        .iter_mut()
        .find(|attribute| attribute.key == "service.version");

    version.unwrap().value = Some(AnyValue {
        value: Some(any_value::Value::StringValue(
            char::from(letter).to_string(),
        )),
    });
}

/// # Safety
/// The context is of libdatadog_process_new().
#[no_mangle]
pub unsafe extern "C" fn libdatadog_process_publish(context: *const ProcessContext) -> i32 {
    otel_process_ctx::publish(&*context).is_err().into()
}

#[no_mangle]
pub extern "C" fn libdatadog_process_drop() -> i32 {
    otel_process_ctx::unpublish().is_err().into()
}
