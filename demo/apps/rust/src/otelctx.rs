// SPDX-License-Identifier: Apache-2.0

//! Says what a thread works for. Copy this file.
//!
//! The idiom: a span is a call, as `in_span` of the OpenTelemetry crate. Its
//! record is swapped in while the closure runs, and what was there before is
//! swapped back at the end, also after a panic. (Guard objects could be dropped
//! in any order, and leave readers the address of a dead one.) When another SDK
//! of the program is in the way, the span is not shown. When one is there at
//! the end, it may show the record again: then that is leaked.
//!
//! What Rust cannot do: follow a future, which leaves its thread at an
//! `.await` and may go on on another. Put `in_span` around its `poll`, never
//! around its `.await`. And a static binary (the musl targets) knows no
//! LD_PRELOAD.

use std::ffi::CString;
use std::mem::transmute_copy;
use std::os::raw::{c_char, c_int};
use std::ptr;

#[repr(C, align(8))]
struct Record([u8; 640]);

type Swap = unsafe extern "C" fn(*mut Record, *mut *mut Record) -> c_int;

#[derive(Clone, Copy)]
struct Calls {
    key: unsafe extern "C" fn(*const c_char) -> c_int,
    init: unsafe extern "C" fn(*mut Record, *const u8, *const u8, u8) -> c_int,
    attr: unsafe extern "C" fn(*mut Record, u8, *const u8, usize) -> c_int,
    swap: Swap,
}

/// No library is named: it looks in whatever is loaded.
///
/// # Safety
/// F is the type that otelctx.h declares the function with.
unsafe fn find<F>(name: &str) -> Option<F> {
    let name = CString::new(name).ok()?;
    let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());

    (!found.is_null()).then(|| transmute_copy(&found))
}

impl Calls {
    fn find() -> Option<Self> {
        // SAFETY: the fields have the types of otelctx.h.
        unsafe {
            Some(Self {
                key: find("otelctx_key")?,
                init: find("otelctx_record_init")?,
                attr: find("otelctx_record_attr")?,
                swap: find("otelctx_swap")?,
            })
        }
    }
}

pub struct Ids {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
}

/// The key of an attribute; None without the shim, or when there are too many.
pub type Key = Option<u8>;

/// Without the shim, it does nothing.
#[derive(Clone, Copy)]
pub struct Tracer(Option<Calls>);

impl Tracer {
    pub fn new() -> Self {
        Self(Calls::find())
    }

    pub fn key(&self, name: &str) -> Key {
        let name = CString::new(name).ok()?;

        // SAFETY: the name is a string of C.
        unsafe { (self.0?.key)(name.as_ptr()) }.try_into().ok()
    }

    pub fn in_span<T>(
        &self,
        ids: &Ids,
        attributes: &[(Key, &str)],
        work: impl FnOnce() -> T,
    ) -> T {
        let calls = match self.0 {
            Some(calls) => calls,
            None => return work(),
        };
        let mut span = Span {
            swap: calls.swap,
            record: Box::into_raw(Box::new(Record([0; 640]))),
            outer: ptr::null_mut(),
            shown: false,
        };

        // SAFETY: the record stays where it is until it is swapped out.
        unsafe {
            (calls.init)(
                span.record,
                ids.trace_id.as_ptr(),
                ids.span_id.as_ptr(),
                1,
            );
            for &(key, value) in attributes {
                if let Some(key) = key {
                    (calls.attr)(span.record, key, value.as_ptr(), value.len());
                }
            }
            span.shown = (calls.swap)(span.record, &mut span.outer) == 0;
        }
        work()
    }
}

/// Ends when it is dropped.
struct Span {
    swap: Swap,
    record: *mut Record,
    outer: *mut Record,
    shown: bool,
}

impl Drop for Span {
    fn drop(&mut self) {
        // SAFETY: what was there before is still there, as calls nest; and
        // nobody has the address of a record that was swapped out.
        unsafe {
            if !self.shown || (self.swap)(self.outer, ptr::null_mut()) == 0 {
                drop(Box::from_raw(self.record));
            }
        }
    }
}
