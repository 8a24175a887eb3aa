// SPDX-License-Identifier: Apache-2.0

//! Publishes as the scenario of that name says, and reads itself with
//! libdatadog, which reads no other processes. Prints what otelctx-verdict(5)
//! describes. Status 77: the scenario needs a process of its own, or its payload
//! has gigabytes: what libdatadog copies of them depends on what is mapped behind.

use base64::prelude::{Engine, BASE64_STANDARD};
use libdd_library_config::otel_process_ctx::ProcessContextSelfReader;
use libdd_trace_protobuf::opentelemetry::proto::common::v1::{
    any_value::Value, AnyValue, KeyValue, ProcessContext,
};
use serde_json::{json, Value as Json};
use std::{ffi, io, process::ExitCode, ptr, thread, time::Duration};

unsafe extern "C" {
    fn otelctx_kit_publish(name: *const ffi::c_char, line: *mut *mut ffi::c_char) -> ffi::c_int;
}

fn value(any: &Option<AnyValue>) -> Json {
    match any.as_ref().and_then(|any| any.value.as_ref()) {
        Some(Value::StringValue(text)) => json!(text),
        Some(Value::BoolValue(truth)) => json!(truth),
        Some(Value::IntValue(number)) => json!(number),
        Some(Value::DoubleValue(number)) => json!(number),
        Some(Value::BytesValue(bytes)) => json!({"bytes": BASE64_STANDARD.encode(bytes)}),
        Some(Value::ArrayValue(list)) => list.values.iter().map(|one| value(&Some(one.clone()))).collect(),
        Some(Value::KvlistValue(list)) => pairs(&list.values),
        _ => Json::Null,
    }
}

fn pairs(attributes: &[KeyValue]) -> Json {
    attributes.iter().map(|one| (one.key.clone(), value(&one.value))).collect()
}

/// "Callers may retry later", says its text of a concurrent update.
fn read() -> io::Result<ProcessContext> {
    let mut tries = 0;
    loop {
        match ProcessContextSelfReader::new()?.read() {
            Err(fault) if fault.kind() == io::ErrorKind::WouldBlock && tries < 100 => tries += 1,
            result => return result,
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).and_then(|name| ffi::CString::new(name).ok());
    let mut line = ptr::null_mut();
    let huge = [c"header/packed", c"place/size-4-gib"];
    let published = name.filter(|name| !huge.contains(&name.as_c_str()))
        .map(|name| unsafe { otelctx_kit_publish(name.as_ptr(), &mut line) });
    if published != Some(0) {
        return ExitCode::from(77);
    }
    match read() {
        Ok(context) => println!(
            "{}",
            json!({"answer": "context", "extra": pairs(&context.extra_attributes),
                   "resource": pairs(&context.resource.unwrap_or_default().attributes)})
        ),
        Err(fault) => println!("{}", json!({"answer": "none", "why": fault.to_string()})),
    }
    ExitCode::SUCCESS
}
