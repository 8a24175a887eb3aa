// SPDX-License-Identifier: Apache-2.0

import com.sun.jna.Function;
import com.sun.jna.Pointer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a thread works for, until it is closed. Copy this file, and
 * ThreadContext.java.
 *
 * <p>The idiom: a thread asks once for its record, by a call through JNA, and
 * from then on writes it as a byte buffer, which costs no call: `valid` to 0,
 * the span, `valid` to 1. When a span ends, the one around it is written again.
 * With other storages than TLS (OTELCTX_THREAD_STORAGE) a span is a call that
 * shows its ids, and no attributes.
 *
 * <p>What Java cannot do: follow work that leaves its thread (reactive chains,
 * CompletableFuture); each piece starts a span of its own. Virtual threads must
 * not have spans at all: the record is their carrier's, and they change it. The
 * JVM's own threads (GC, compilers) show nothing.
 *
 * <p>From Java 22 on there is java.lang.foreign in place of JNA:
 * {@code Linker.nativeLinker().defaultLookup()} finds otelctx_pin, and {@code
 * reinterpret(640).asByteBuffer()} makes its result a buffer.
 */
final class Span implements AutoCloseable {
    // struct otelctx_record of otelctx.h. `valid`, `trace_flags` and
    // `attrs_size` are one aligned word: x86-64 and aarch64 are
    // little-endian.
    private static final int SIZE = 640;
    private static final int TRACE_ID = 0;
    private static final int SPAN_ID = 16;
    private static final int WORD = 24;
    private static final int ATTRS = 28;
    private static final VarHandle INT =
            MethodHandles.byteBufferViewVarHandle(
                    int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final Function PIN = ThreadContext.find("otelctx_pin");
    private static final Function KEY = ThreadContext.find("otelctx_key");
    private static final ThreadContext OTHERS =
            ThreadContext.isTlsOnly() ? null : new ThreadContext();
    private static final Map<String, Integer> KEYS =
            new ConcurrentHashMap<>();
    private static final ThreadLocal<ByteBuffer> RECORD =
            ThreadLocal.withInitial(Span::pin);
    private static final ThreadLocal<Span> INNERMOST = new ThreadLocal<>();

    private final Span outer = INNERMOST.get();
    private final long[] ids;
    private final byte[] attributes;

    Span(long[] ids, Map<String, String> attributes) {
        this.ids = ids;
        this.attributes = encode(attributes);
        show(this);
    }

    @Override
    public void close() {
        show(outer);
    }

    private static void show(Span span) {
        INNERMOST.set(span);
        if (OTHERS != null) {
            OTHERS.put(
                    span == null ? 0 : span.ids[2],
                    span == null ? 0 : span.ids[1]);
            return;
        }
        ByteBuffer record = RECORD.get();

        if (record == null) {
            RECORD.remove(); // somebody is in the way: ask again
            return;
        }
        INT.setOpaque(record, WORD, 0); // readers see nothing from here
        VarHandle.storeStoreFence();
        if (span == null) {
            return;
        }
        record.order(ByteOrder.BIG_ENDIAN); // as the bytes of ids are
        record.putLong(TRACE_ID, span.ids[0]);
        record.putLong(TRACE_ID + 8, span.ids[1]);
        record.putLong(SPAN_ID, span.ids[2]);
        record.position(ATTRS).put(span.attributes);
        int size = span.attributes.length;
        INT.setRelease(record, WORD, 1 | 1 << 8 | size << 16);
    }

    private static ByteBuffer pin() {
        Pointer record =
                PIN == null ? null : PIN.invokePointer(new Object[0]);

        return record == null ? null : record.getByteBuffer(0, SIZE);
    }

    private static int key(String name) {
        return KEY == null ? -1 : KEY.invokeInt(new Object[] {name});
    }

    private static byte[] encode(Map<String, String> attributes) {
        ByteBuffer out = ByteBuffer.allocate(SIZE - ATTRS);

        attributes.forEach(
                (name, value) -> {
                    int key = KEYS.computeIfAbsent(name, Span::key);
                    byte[] text = value.getBytes(StandardCharsets.UTF_8);
                    int length = Math.min(text.length, 255);

                    // Not within a character.
                    while (length < text.length
                            && (text[length] & 0xc0) == 0x80) {
                        length--;
                    }
                    if (key >= 0 && out.remaining() >= 2 + length) {
                        out.put((byte) key).put((byte) length);
                        out.put(text, 0, length);
                    }
                });
        return Arrays.copyOf(out.array(), out.position());
    }
}
