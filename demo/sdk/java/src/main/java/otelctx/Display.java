// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * What one thread shows. Nobody but this thread uses it or writes the record, which is the native
 * thread's and ends with it.
 */
final class Display {
    // struct otelctx_record of otelctx.h. `valid`, `trace_flags` and `attrs_size` are one aligned
    // word: x86-64 and aarch64 are little-endian.
    private static final int TRACE_ID = 0;
    private static final int SPAN_ID = 16;
    private static final int WORD = 24;
    private static final int ATTRS = 28;
    private static final int FLAGS = 3; // sampled, random

    private static final int RETRY = 256;

    /** Programs that never close scopes must not fill the heap. */
    private static final int DEPTH = 64;

    private final ThreadLocal<Display> displays;
    private final Thread thread = Thread.currentThread();
    private final Shim shim;
    private final SpanAttributes attributes;
    private final boolean pinned;
    private final boolean silent;
    private long record; // or, if not pinned, a trace id and a span id for a call; 0: none
    private ByteBuffer buffer; // from `attrs` on, or what keeps those ids
    private final byte[] digits = new byte[48];
    private int failures;
    private Entry current;

    Display(
            ThreadLocal<Display> displays,
            Shim shim,
            SpanAttributes attributes,
            boolean pinned)
            throws Throwable {
        this.displays = displays;
        this.shim = shim;
        this.attributes = attributes;
        this.pinned = pinned;
        silent = VirtualThreads.isVirtual(thread);
        if (silent) {
            VirtualThreads.tell();
        } else if (pinned) {
            pin();
        } else {
            buffer = ByteBuffer.allocateDirect(WORD);
            record = shim.address(buffer);
        }
    }

    private void pin() throws Throwable {
        record = shim.pin();
        if (record != 0 && attributes != null) {
            buffer = shim.memory(record + ATTRS, Shim.RECORD - ATTRS);
        }
    }

    /** Both ids are copied before either is read: one after the other takes 10 ns more. */
    @SuppressWarnings("deprecation") // nothing else copies ASCII into an array
    private void copy(SpanContext ids) {
        ids.getTraceId().getBytes(0, 32, digits, 0);
        ids.getSpanId().getBytes(0, 16, digits, 32);
    }

    /** A context that is current, until its scope is closed. */
    private static final class Entry implements Scope {
        private final Display display;
        private final ContextStorage storage;
        private final Scope scope;
        private final Context context;
        private final Entry outer; // null, too, if there are DEPTH within it
        private final int depth;
        private final Span span;
        private final boolean valid;
        private long traceHigh;
        private long traceLow;
        private long spanId;
        private byte flags;

        Entry(Display display, ContextStorage storage, Scope scope, Context context, Entry outer) {
            this.display = display;
            this.storage = storage;
            this.scope = scope;
            this.context = context;
            depth = outer == null || outer.depth == DEPTH ? 0 : outer.depth + 1;
            this.outer = depth == 0 ? null : outer;
            span = Span.fromContextOrNull(context);
            valid = span != null && parse();
        }

        /** A span may be of any class, and its ids any text. */
        private boolean parse() {
            try {
                SpanContext ids = span.getSpanContext();

                if (!ids.isValid()) {
                    return false;
                }
                display.copy(ids);
                traceHigh = Hex.parse(display.digits, 0);
                traceLow = Hex.parse(display.digits, 16);
                spanId = Hex.parse(display.digits, 32);
                flags = (byte) (ids.getTraceFlags().asByte() & FLAGS);
                return true;
            } catch (RuntimeException e) {
                return false;
            }
        }

        /** The SDK lets any thread close it that has this context. */
        @Override
        public void close() {
            scope.close();

            Display here =
                    Thread.currentThread() == display.thread ? display : display.displays.get();

            if (here != null) {
                here.left(this);
            }
        }

        boolean isShowable() throws Throwable {
            return valid && !Ended.is(span);
        }
    }

    /** The storage has made a context current. Returns what closes it in place of its scope. */
    Scope enter(ContextStorage storage, Scope scope, Context context) {
        Entry entry = new Entry(this, storage, scope, context, current);

        current = entry;
        show(entry);
        return entry;
    }

    /** What is current now is the storage's to say: it ignores a scope closed out of order. */
    private void left(Entry closed) {
        try {
            Context now = closed.storage.current();
            Entry entry = current;

            if (entry != null && entry.context == now) {
                return;
            }
            while (entry != null && entry.context != now) {
                entry = entry.outer;
            }
            if (entry == null && now != null) {
                entry = new Entry(this, closed.storage, Scope.noop(), now, null);
            }
            current = entry;
            show(entry);
        } catch (Throwable e) {
            hide();
        }
    }

    boolean isCurrent(Object span) {
        return current != null && current.span == span;
    }

    /** A span has ended, or has another attribute. */
    void changed(Object span) {
        if (isCurrent(span)) {
            show(current);
        }
    }

    private void show(Entry entry) {
        if (silent) {
            return;
        }
        try {
            if (record == 0 && failures++ % RETRY == 0) {
                pin();
            }
            if (record == 0) {
                return;
            }
            if (!pinned) {
                showByCall(entry);
                return;
            }
            Memory.release(record + WORD, 0); // readers see nothing from here
            VarHandle.storeStoreFence();
            if (entry == null || !entry.isShowable()) {
                return;
            }
            putIds(entry);

            int size = 0;

            if (attributes != null) {
                buffer.clear();
                attributes.encode(entry.span, entry.context, buffer);
                size = buffer.position();
            }
            Memory.release(record + WORD, 1 | entry.flags << 8 | size << 16);
        } catch (Throwable e) {
            hide();
        }
    }

    private void putIds(Entry entry) throws Throwable {
        Memory.putId(record + TRACE_ID, entry.traceHigh);
        Memory.putId(record + TRACE_ID + 8, entry.traceLow);
        Memory.putId(record + SPAN_ID, entry.spanId);
    }

    private void showByCall(Entry entry) throws Throwable {
        if (entry == null || !entry.isShowable()) {
            shim.detach();
            return;
        }
        putIds(entry);
        shim.attach(record, entry.flags);
    }

    void hide() {
        try {
            if (!pinned) {
                shim.detach();
            } else if (record != 0) {
                Memory.release(record + WORD, 0);
            }
        } catch (Throwable e) {
            // The program goes on, as it would without the bridge.
        }
    }
}
