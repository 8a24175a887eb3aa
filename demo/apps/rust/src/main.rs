// SPDX-License-Identifier: Apache-2.0

//! Three threads serve a request each, and each says so to readers outside.
//!
//!     cargo build --locked
//!     LD_PRELOAD=libotelctx_preload.so target/debug/worker hold
//!     otelctx-read --threads PID                      (in another terminal)

mod otelctx;

use otelctx::{Ids, Key, Tracer};
use std::sync::Barrier;
use std::{env, io, thread};

const WORKERS: u8 = 3;

struct Keys {
    route: Key,
    user: Key,
    operation: Key,
}

struct Worker<'a> {
    number: u8,
    tracer: Tracer,
    keys: &'a Keys,
    step: Option<&'a Barrier>,
}

impl Worker<'_> {
    /// With `hold`: waits here for the others, and then for main to go on.
    fn look_here(&self) {
        if let Some(step) = self.step {
            step.wait();
            step.wait();
        }
    }

    /// A tracer makes up ids; by these one sees who is who.
    fn ids(&self, level: u8) -> Ids {
        Ids {
            trace_id: [self.number; 16],
            span_id: [level + self.number; 8],
        }
    }

    fn query(&self) -> u32 {
        let attributes = [(self.keys.operation, "SELECT")];

        self.tracer.in_span(&self.ids(0x20), &attributes, || {
            self.look_here();
            10 * u32::from(self.number)
        })
    }

    fn serve(&self) -> u32 {
        let user = format!("user-{}", self.number);
        let attributes = [(self.keys.route, "/cart"), (self.keys.user, &user)];
        let rows = self.tracer.in_span(&self.ids(0x10), &attributes, || {
            let rows = self.query();

            self.look_here(); // the request's own context is back
            rows
        });

        self.look_here();
        rows
    }
}

fn main() -> io::Result<()> {
    let tracer = Tracer::new();
    let keys = &Keys {
        route: tracer.key("http.route"),
        user: tracer.key("user.id"),
        operation: tracer.key("db.operation.name"),
    };
    let barrier = Barrier::new(usize::from(WORKERS) + 1);
    let hold = env::args().nth(1).as_deref() == Some("hold");
    let step = hold.then_some(&barrier);

    thread::scope(|scope| {
        let mut threads = Vec::new();

        for number in 1..=WORKERS {
            let worker = Worker {
                number,
                tracer,
                keys,
                step,
            };
            let named = thread::Builder::new().name(format!("worker-{number}"));

            threads.push(named.spawn_scoped(scope, move || worker.serve())?);
        }
        for what in ["query", "request", "idle"].iter().filter(|_| hold) {
            barrier.wait();
            println!("{what}");
            io::stdin().read_line(&mut String::new())?;
            barrier.wait();
        }
        for (number, thread) in (1..).zip(threads) {
            println!("worker {number}: {} rows", thread.join().unwrap());
        }
        Ok(())
    })
}
