// SPDX-License-Identifier: Apache-2.0

//! Reads the process context of its own process with libdatadog: prints
//! key=value, then "--" and the extra attributes.

use libdd_library_config::otel_process_ctx::ProcessContextSelfReader;
use libdd_trace_protobuf::opentelemetry::proto::common::v1::{any_value::Value, KeyValue};

fn show(attributes: Vec<KeyValue>) {
    for attribute in attributes {
        match attribute.value.and_then(|any| any.value) {
            Some(Value::StringValue(text)) => println!("{}={}", attribute.key, text),
            other => println!("{} is {:?}", attribute.key, other),
        }
    }
}

fn main() -> std::io::Result<()> {
    let context = ProcessContextSelfReader::new()?.read()?;
    show(context.resource.unwrap_or_default().attributes);
    println!("--");
    show(context.extra_attributes);
    Ok(())
}
