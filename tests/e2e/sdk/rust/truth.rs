// SPDX-License-Identifier: Apache-2.0

//! truth.h: what this program's threads work for, in a file that the sampler
//! reads.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::ptr::{addr_of, addr_of_mut, null_mut};
use std::sync::atomic::{fence, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SLOTS: usize = 4096;

#[repr(C)]
struct Slot {
    sequence: AtomicU64,
    pid: u32,
    tid: u32,
    trace_id: [u8; 16],
    span_id: [u8; 8],
    route: [u8; 24],
}

#[derive(Clone, Copy)]
pub struct Truth(*mut Slot);

// SAFETY: each thread writes its own slot.
unsafe impl Send for Truth {}
unsafe impl Sync for Truth {}

impl Truth {
    pub fn open(path: &str) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.expect("the file of slots");
        // SAFETY: nothing else is mapped there.
        let map = unsafe {
            libc::mmap(
                null_mut(),
                SLOTS * std::mem::size_of::<Slot>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };

        assert_ne!(map, libc::MAP_FAILED);
        Self(map.cast())
    }

    /// Keeps its thread busy, inside. It mostly sleeps, because the sampler has
    /// to wait for a thread that waits for a processor.
    pub fn compute(self, trace_id: [u8; 16], span_id: [u8; 8], route: &str) {
        self.begin(trace_id, span_id, route);
        for _ in 0..3 {
            let end = Instant::now() + Duration::from_micros(100);

            while Instant::now() < end {
                std::hint::spin_loop();
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        self.end();
    }

    fn begin(self, trace_id: [u8; 16], span_id: [u8; 8], route: &str) {
        let slot = self.slot();
        let mut text = [0; 24];

        text[..route.len()].copy_from_slice(route.as_bytes());
        // SAFETY: the slot is in the map, and this thread's alone.
        unsafe {
            addr_of_mut!((*slot).pid).write_volatile(std::process::id());
            addr_of_mut!((*slot).tid).write_volatile(tid());
            addr_of_mut!((*slot).trace_id).write_volatile(trace_id);
            addr_of_mut!((*slot).span_id).write_volatile(span_id);
            addr_of_mut!((*slot).route).write_volatile(text);
        }
        self.count();
    }

    fn end(self) {
        self.count();
    }

    fn count(self) {
        // SAFETY: as above.
        let sequence = unsafe { &*addr_of!((*self.slot()).sequence) };

        fence(Ordering::SeqCst);
        sequence.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    fn slot(self) -> *mut Slot {
        // SAFETY: it is below SLOTS.
        unsafe { self.0.add(tid() as usize % SLOTS) }
    }
}

fn tid() -> u32 {
    thread_local!(static TID: u32 = unsafe { libc::gettid() } as u32);

    TID.with(|tid| *tid)
}
