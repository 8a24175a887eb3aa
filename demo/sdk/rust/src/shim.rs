// SPDX-License-Identifier: Apache-2.0

//! The functions of the preloaded shim (shim/otelctx.h), and what this crate
//! has attached to the calling thread with them.

use std::cell::Cell;
use std::ffi::CString;
use std::io::Write;
use std::mem::transmute_copy;
use std::os::raw::{c_char, c_int};
use std::sync::OnceLock;

pub(crate) struct Shim {
    attach: unsafe extern "C" fn(*const u8, *const u8, u8) -> c_int,
    attr: unsafe extern "C" fn(u8, *const u8, usize) -> c_int,
    detach: unsafe extern "C" fn() -> c_int,
    get: unsafe extern "C" fn(*mut Ids) -> c_int,
    key: unsafe extern "C" fn(*const c_char) -> c_int,
    process_set: unsafe extern "C" fn(*const c_char, *const c_char) -> c_int,
    process_publish: unsafe extern "C" fn() -> c_int,
}

/// The context of a span, as readers see it: struct otelctx_ids.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Ids {
    pub(crate) trace_id: [u8; 16],
    pub(crate) span_id: [u8; 8],
    pub(crate) flags: u8,
}

thread_local! {
    /// The span that this crate has attached to the thread; 0: none.
    static ATTACHED: Cell<u64> = const { Cell::new(0) };
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

/// A child starts with a copy of the span in which its parent forked.
extern "C" fn forked() {
    // Not Shim::get(): another thread of the parent may be within it.
    if let Some(Some(shim)) = SHIM.get() {
        shim.show(None);
    }
}

static SHIM: OnceLock<Option<Shim>> = OnceLock::new();

impl Shim {
    /// None if it is not loaded, or is disabled.
    pub(crate) fn get() -> Option<&'static Self> {
        SHIM.get_or_init(Self::find).as_ref()
    }

    fn find() -> Option<Self> {
        // SAFETY: the fields have the types of otelctx.h.
        unsafe {
            let abi: unsafe extern "C" fn() -> c_int = find("otelctx_abi")?;

            if abi() < 0 {
                return None;
            }
            let shim = Self {
                attach: find("otelctx_attach")?,
                attr: find("otelctx_attr")?,
                detach: find("otelctx_detach")?,
                get: find("otelctx_get")?,
                key: find("otelctx_key")?,
                process_set: find("otelctx_process_set")?,
                process_publish: find("otelctx_process_publish")?,
            };
            libc::pthread_atfork(None, None, Some(forked));
            Some(shim)
        }
    }

    /// Attaches this span in place of the one before, or none. Whether it is
    /// attached: the record of another SDK stays.
    #[inline]
    pub(crate) fn show(&self, ids: Option<&Ids>) -> bool {
        // SAFETY: the arrays have the sizes of otelctx.h.
        unsafe {
            match ids {
                Some(ids) => {
                    let (trace, span) = (&ids.trace_id, &ids.span_id);
                    let attached =
                        (self.attach)(trace.as_ptr(), span.as_ptr(), ids.flags)
                            == 0;

                    ATTACHED.set(if attached { ids.span() } else { 0 });
                    attached
                }
                None => {
                    if ATTACHED.get() != 0 && self.is_own() {
                        (self.detach)();
                        ATTACHED.set(0);
                    }
                    false
                }
            }
        }
    }

    /// Is what is attached still what this crate has attached? Another part of
    /// the program may have put a record of its own in its place.
    fn is_own(&self) -> bool {
        let mut ids = Ids::default();

        // SAFETY: it has the layout of otelctx.h.
        unsafe { (self.get)(&mut ids) == 0 && self.shows(ids.span()) }
    }

    /// Whether this crate has attached that span to the calling thread.
    pub(crate) fn shows(&self, span: u64) -> bool {
        span != 0 && ATTACHED.get() == span
    }

    pub(crate) fn set_attribute(&self, key: u8, value: &str) {
        // SAFETY: so many bytes are there.
        unsafe { (self.attr)(key, value.as_ptr(), value.len()) };
    }

    /// The index of an attribute's key; None, and a line on stderr, if it has
    /// none.
    pub(crate) fn key(&self, name: &str) -> Option<u8> {
        let error = match CString::new(name) {
            // SAFETY: the name is a string of C.
            Ok(text) => unsafe { (self.key)(text.as_ptr()) },
            Err(_) => -libc::EINVAL,
        };

        match u8::try_from(error) {
            Ok(index) => Some(index),
            Err(_) => {
                warn(&format!(
                    "OTELCTX_SPAN_ATTRIBUTES: {name}: {}",
                    std::io::Error::from_raw_os_error(-error)
                ));
                None
            }
        }
    }

    /// Adds these attributes to the process context, and publishes it.
    pub(crate) fn publish(&self, attributes: Vec<(String, String)>) {
        for (key, value) in attributes {
            if let (Ok(key), Ok(value)) =
                (CString::new(key), CString::new(value))
            {
                // SAFETY: both are strings of C.
                unsafe { (self.process_set)(key.as_ptr(), value.as_ptr()) };
            }
        }
        // SAFETY: it has no parameters.
        unsafe { (self.process_publish)() };
    }
}

impl Ids {
    pub(crate) fn span(&self) -> u64 {
        u64::from_ne_bytes(self.span_id)
    }
}

/// A line on stderr, if there is one: eprintln!() panics where it is closed.
pub(crate) fn warn(what: &str) {
    let line = format!("otelctx[{}]: {what}\n", std::process::id());
    let _ = std::io::stderr().write_all(line.as_bytes());
}
