// SPDX-License-Identifier: Apache-2.0

//! Reads the process context of its own process with libdatadog: prints
//! key=value, then "--" and the extra attributes, then "--" and the names of
//! the threads' attributes. With an argument it checks that ELF file instead,
//! as libdatadog does for its own library.

use libdd_library_config::otel_process_ctx::ProcessContextSelfReader;
use libdd_otel_thread_ctx::sanity_check::check_tls_slot_in;
use libdd_trace_protobuf::opentelemetry::proto::common::v1::{any_value::Value, KeyValue};
use std::{error::Error, path::Path, process::ExitCode};

fn show(attributes: &[KeyValue]) {
    for attribute in attributes {
        match attribute.value.as_ref().and_then(|any| any.value.as_ref()) {
            Some(Value::StringValue(text)) => {
                println!("{}={}", attribute.key, text)
            }
            Some(Value::ArrayValue(list)) => {
                println!("{} has {} values", attribute.key, list.values.len())
            }
            other => println!("{} is {:?}", attribute.key, other),
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    if let Some(object) = std::env::args().nth(1) {
        return check_tls_slot_in(Path::new(&object)).map_err(|fault| fault.to_string().into());
    }
    let context = ProcessContextSelfReader::new()?.read()?;
    let keys = ProcessContextSelfReader::threadlocal_attribute_key_map(&context);
    show(&context.resource.unwrap_or_default().attributes);
    println!("--");
    show(&context.extra_attributes);
    println!("--");
    println!("{}", keys.ok_or("no map of keys")?.join("\n"));
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}
