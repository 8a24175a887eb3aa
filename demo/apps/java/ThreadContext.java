// SPDX-License-Identifier: Apache-2.0

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import java.nio.ByteBuffer;

/**
 * The two 64-bit ids of what the calling thread works for, as tracers have them
 * that know no trace id of 128 bits. Copy this file.
 *
 * <p>This works with any storage (OTELCTX_THREAD_STORAGE), each call by a call
 * through JNA. Without the library a thread has no ids.
 */
public final class ThreadContext {
    private static final Function ATTACH = find("otelctx_attach64");
    private static final Function DETACH = find("otelctx_detach");
    private static final Function GET = find("otelctx_get");
    private static final Function STORAGE = find("otelctx_storage");

    // struct otelctx_ids of otelctx.h: a trace id of 16 bytes, whose lower half
    // is the root span id, a span id of 8 bytes, and one byte of flags.
    private static final int SIZE = 25;
    private static final int ROOT_SPAN_ID = 8;
    private static final int SPAN_ID = 16;

    // enum otelctx_storages
    private static final int TLS = 1;
    private static final int RING = 2;

    /** Both 0, or a negative errno: the thread works for nothing. One 0 is an error. */
    public long put(long spanId, long rootSpanId) {
        return (spanId | rootSpanId) == 0
                ? call(DETACH)
                : call(ATTACH, spanId, rootSpanId);
    }

    /** 0 if the thread works for nothing. */
    public long getSpanId() {
        return get(SPAN_ID);
    }

    public long getRootSpanId() {
        return get(ROOT_SPAN_ID);
    }

    /** Do readers find the contexts in a ring buffer, by thread id? */
    public static boolean isOtelMode() {
        return (storages() & RING) != 0;
    }

    /** Is the record that a thread can pin all that readers look at? */
    static boolean isTlsOnly() {
        return storages() == TLS;
    }

    /** Null: there is no shim. No library is named: whatever is loaded. */
    static Function find(String name) {
        try {
            return NativeLibrary.getProcess().getFunction(name, 0, "UTF-8");
        } catch (UnsatisfiedLinkError e) {
            return null;
        }
    }

    private static int storages() {
        return Math.max(call(STORAGE), 0);
    }

    private static long get(int at) {
        byte[] ids = new byte[SIZE];

        return call(GET, ids) == 0 ? ByteBuffer.wrap(ids).getLong(at) : 0;
    }

    private static int call(Function function, Object... arguments) {
        return function == null ? -1 : function.invokeInt(arguments);
    }
}
