// SPDX-License-Identifier: Apache-2.0

//! libdatadog's writer of thread contexts and the shim, in one process and for
//! one variable. A second thread does what it is told on stdin, one word a
//! line, and prints what each returned. Of libdatadog:
//!
//! ```text
//!     put      attaches a new context; 1: something was attached before
//!     update   writes into what is attached, or attaches a new context
//!     nest     attaches a new context and then what was there before
//!     clear    detaches what is attached, and frees it; 1: there was something
//!     slot     0: nothing is attached
//!     live     the contexts of libdatadog that are not freed
//! ```
//!
//! The others are calls of the shim, as in sharer.c.

use libdd_otel_thread_ctx::{linux::OwnedThreadContext, test_utils::read_tls_pointer_untyped};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_int, c_void, CString};
use std::io::{stdin, BufRead};
use std::sync::atomic::{AtomicI32, Ordering};
use std::{mem, ptr};

const RECORD_SIZE: usize = 640;
static LIVE: AtomicI32 = AtomicI32::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() == RECORD_SIZE {
            LIVE.fetch_add(1, Ordering::Relaxed);
        }
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if layout.size() == RECORD_SIZE {
            LIVE.fetch_sub(1, Ordering::Relaxed);
        }
        System.dealloc(memory, layout)
    }
}

fn new() -> OwnedThreadContext {
    OwnedThreadContext::new([0xda; 16], [0x0c; 8], 1, [0xb0; 8], &[(1, "theirs")])
}

fn forget(context: Option<OwnedThreadContext>) -> c_int {
    let some = context.is_some().into();
    mem::forget(context);
    some
}

fn nest() -> c_int {
    new()
        .attach()
        .and_then(OwnedThreadContext::attach)
        .is_some()
        .into()
}

/// What the shim exports under this name, as a function of that type.
macro_rules! shim {
    ($name:literal: $type:ty) => {{
        let name = CString::new($name).unwrap();
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        assert!(!found.is_null(), "no {}", $name);
        unsafe { mem::transmute::<*mut c_void, $type>(found) }
    }};
}

fn call(word: &str) -> c_int {
    type Void = extern "C" fn() -> c_int;
    let (trace_id, span_id) = ([0x11u8; 16], [0x22u8; 8]);
    let mut ids = [0u8; 25];

    match word {
        "put" => forget(new().attach()),
        "update" => {
            OwnedThreadContext::update([0xdb; 16], [0x0d; 8], 0, [0xb1; 8], &[(1, "new")]);
            0
        }
        "nest" => nest(),
        "clear" => OwnedThreadContext::detach().is_some().into(),
        "slot" => (!read_tls_pointer_untyped().is_null()).into(),
        "live" => LIVE.load(Ordering::Relaxed),

        "abi" => shim!("otelctx_abi": Void)(),
        "attach" => shim!("otelctx_attach": extern "C" fn(*const u8, *const u8, u8) -> c_int)(
            trace_id.as_ptr(),
            span_id.as_ptr(),
            1,
        ),
        "attr" => shim!("otelctx_attr": extern "C" fn(u8, *const u8, usize) -> c_int)(
            1,
            b"ours".as_ptr(),
            4,
        ),
        "unset" => shim!("otelctx_attr_unset": extern "C" fn(u8) -> c_int)(1),
        "detach" => shim!("otelctx_detach": Void)(),
        "get" => shim!("otelctx_get": extern "C" fn(*mut u8) -> c_int)(ids.as_mut_ptr()),
        "pin" => (!shim!("otelctx_pin": extern "C" fn() -> *mut c_void)().is_null()).into(),
        "swapout" => {
            type Swap = extern "C" fn(*mut c_void, *mut *mut c_void) -> c_int;
            shim!("otelctx_swap": Swap)(ptr::null_mut(), ptr::null_mut())
        }
        _ => -libc::EINVAL,
    }
}

fn main() {
    let worker = std::thread::Builder::new().name("worker".into()).spawn(|| {
        for word in stdin().lock().lines().map_while(Result::ok) {
            println!("{word} {}", call(&word));
        }
    });
    worker.unwrap().join().unwrap();
}
