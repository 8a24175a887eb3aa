// SPDX-License-Identifier: Apache-2.0

//! custom-labels, as functions that dlsym(3) finds. It has no ids: the trace
//! and the span are two labels among the others, in the bytes of the ids.

use custom_labels::sys::{self, Labelset};
use std::ptr::null_mut;
use std::slice;

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

const KEYS: [&[u8]; 5] = [
    b"",
    b"http.route",
    b"http.request.method",
    b"user.id",
    b"cloud.availability_zone",
];

impl Context {
    fn attrs(&self) -> &[Attr] {
        &self.attrs[..self.count.into()]
    }

    unsafe fn set_all(&self, set: *mut Labelset) -> i32 {
        let ids: [(&[u8], &[u8]); 2] = [(b"trace_id", &self.trace_id), (b"span_id", &self.span_id)];
        let attrs = self.attrs().iter().map(|attr| {
            let value = slice::from_raw_parts(attr.value, attr.size);
            (KEYS[usize::from(attr.key)], value)
        });
        ids.into_iter()
            .chain(attrs)
            .map(|(key, value)| sys::set(set, key.into(), value.into(), null_mut()))
            .fold(0, |all, fault| all | fault)
    }

    /// In the order in which each is the last: that costs least.
    unsafe fn delete_all(&self, set: *mut Labelset) {
        for attr in self.attrs().iter().rev() {
            sys::delete(set, KEYS[usize::from(attr.key)].into());
        }
        sys::delete(set, b"span_id"[..].into());
        sys::delete(set, b"trace_id"[..].into());
    }
}

/// A new set with room for all labels, made the thread's current one.
///
/// # Safety
/// The context is valid, and the thread has no current set.
#[no_mangle]
pub unsafe extern "C" fn custom_labels_attach_new(context: *const Context) -> i32 {
    let set = sys::new(2 + usize::from((*context).count));
    let fault = (*context).set_all(set);
    sys::replace(set);
    fault
}

#[no_mangle]
pub extern "C" fn custom_labels_detach_and_free() {
    unsafe { sys::free(sys::replace(null_mut())) }
}

/// The thread's current set becomes an empty one, to which labels are added.
#[no_mangle]
pub extern "C" fn custom_labels_attach_empty() {
    unsafe { sys::replace(sys::new(6)) };
}

/// # Safety
/// The context is valid, and the thread has a current set.
#[no_mangle]
pub unsafe extern "C" fn custom_labels_add(context: *const Context) -> i32 {
    (*context).set_all(sys::current())
}

/// # Safety
/// As of custom_labels_add().
#[no_mangle]
pub unsafe extern "C" fn custom_labels_remove(context: *const Context) {
    (*context).delete_all(sys::current());
}

/// A set that custom_labels_attach() takes.
///
/// # Safety
/// The context is valid.
#[no_mangle]
pub unsafe extern "C" fn custom_labels_set_of(context: *const Context) -> *mut Labelset {
    let set = sys::new(2 + usize::from((*context).count));
    (*context).set_all(set);
    set
}

/// Makes the set current, or none; returns the one before.
///
/// # Safety
/// The set is of custom_labels_set_of(), or NULL.
#[no_mangle]
pub unsafe extern "C" fn custom_labels_attach(set: *mut Labelset) -> *mut Labelset {
    sys::replace(set)
}
