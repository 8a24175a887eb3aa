// SPDX-License-Identifier: Apache-2.0

use crate::shim::warn;
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const UNKNOWN: u8 = 0;
const RIGHT: u8 = 1;
const WRONG: u8 = 2;

/// Whether OpenTelemetry's layer does its work before this crate's, which only
/// shows from what it does: a span is current after it was entered, and not any
/// more after it was left. In the wrong order it is the other way round.
#[derive(Default)]
pub(crate) struct Order(AtomicU8);

#[derive(Clone, Copy)]
struct Entered {
    spans: usize,
    /// Whether one was current after the first of them was entered.
    current: bool,
}

thread_local! {
    static ENTERED: Cell<Entered> =
        const { Cell::new(Entered { spans: 0, current: false }) };
}

impl Order {
    #[inline]
    pub(crate) fn is_wrong(&self) -> bool {
        self.0.load(Relaxed) == WRONG
    }

    #[inline]
    pub(crate) fn enter(&self, is_current: bool) {
        if self.0.load(Relaxed) == UNKNOWN {
            let Entered { spans, current } = ENTERED.get();

            ENTERED.set(Entered {
                spans: spans + 1,
                current: if spans == 0 { is_current } else { current },
            });
        }
    }

    #[inline]
    pub(crate) fn exit(&self, is_current: bool) {
        if self.0.load(Relaxed) == UNKNOWN {
            self.conclude(is_current);
        }
    }

    #[cold]
    fn conclude(&self, is_current: bool) {
        let Entered { spans, current } = ENTERED.get();
        // None if it was entered before there was this layer.
        let Some(spans) = spans.checked_sub(1) else {
            return;
        };

        ENTERED.set(Entered { spans, current });
        if spans > 0 || is_current == current {
            return;
        }
        if current {
            self.0.store(RIGHT, Relaxed);
        } else if self.0.swap(WRONG, Relaxed) != WRONG {
            warn(
                "otelctx::layer() belongs after OpenTelemetry's layer; \
                 nothing is shown",
            );
        }
    }
}
