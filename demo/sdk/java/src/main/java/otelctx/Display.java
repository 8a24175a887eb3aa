// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

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
    private static final VarHandle INT =
            MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int RETRY = 256;

    private final Thread thread = Thread.currentThread();
    private final Shim shim;
    private final SpanAttributes attributes;
    private final boolean pinned;
    private final boolean silent;
    private ByteBuffer record; // or, if not pinned, a trace id and a span id for a call
    private long address;
    private final byte[] digits = new byte[32];
    private int failures;
    private Entry current;

    Display(Shim shim, SpanAttributes attributes, boolean pinned) throws Throwable {
        this.shim = shim;
        this.attributes = attributes;
        this.pinned = pinned;
        silent = VirtualThreads.isVirtual(thread);
        if (silent) {
            VirtualThreads.tell();
        } else if (pinned) {
            pin();
        } else {
            record = ByteBuffer.allocateDirect(ATTRS);
            address = shim.address(record);
        }
    }

    private void pin() throws Throwable {
        record = shim.pin();
        if (record != null) {
            record.order(ByteOrder.BIG_ENDIAN); // as the bytes of ids are
        }
    }

    /** A context that is current, until its scope is closed. */
    private static final class Entry implements Scope {
        private final Display display;
        private final ContextStorage storage;
        private final Scope scope;
        private final Context context;
        private final Entry outer;
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
            this.outer = outer;
            span = Span.fromContextOrNull(context);

            SpanContext ids = span == null ? null : span.getSpanContext();

            valid = ids != null && ids.isValid();
            if (valid) {
                byte[] digits = display.digits;

                copy(ids.getTraceId(), digits);
                traceHigh = Hex.parse(digits, 0);
                traceLow = Hex.parse(digits, 16);
                copy(ids.getSpanId(), digits);
                spanId = Hex.parse(digits, 0);
                flags = (byte) (ids.getTraceFlags().asByte() & FLAGS);
            }
        }

        @SuppressWarnings("deprecation") // the only one that copies ASCII into an array
        private static void copy(String text, byte[] out) {
            text.getBytes(0, text.length(), out, 0);
        }

        @Override
        public void close() {
            scope.close();
            display.left(this);
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
            if (Thread.currentThread() != thread) {
                return;
            }
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
            if (record == null && failures++ % RETRY == 0) {
                pin();
            }
            if (record == null) {
                return;
            }
            if (!pinned) {
                showByCall(entry);
                return;
            }
            INT.setOpaque(record, WORD, 0); // readers see nothing from here
            VarHandle.storeStoreFence();
            if (entry == null || !entry.isShowable()) {
                return;
            }
            record.putLong(TRACE_ID, entry.traceHigh);
            record.putLong(TRACE_ID + 8, entry.traceLow);
            record.putLong(SPAN_ID, entry.spanId);

            int size = 0;

            if (attributes != null) {
                record.position(ATTRS);
                attributes.encode(entry.span, entry.context, record);
                size = record.position() - ATTRS;
            }
            INT.setRelease(record, WORD, 1 | entry.flags << 8 | size << 16);
        } catch (Throwable e) {
            hide();
        }
    }

    private void showByCall(Entry entry) throws Throwable {
        if (entry == null || !entry.isShowable()) {
            shim.detach();
            return;
        }
        record.putLong(TRACE_ID, entry.traceHigh);
        record.putLong(TRACE_ID + 8, entry.traceLow);
        record.putLong(SPAN_ID, entry.spanId);
        shim.attach(address, entry.flags);
    }

    private void hide() {
        try {
            if (!pinned) {
                shim.detach();
            } else if (record != null) {
                INT.setOpaque(record, WORD, 0);
            }
        } catch (Throwable e) {
            // The program goes on, as it would without the bridge.
        }
    }
}
