// SPDX-License-Identifier: Apache-2.0
package otelctx;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The functions of otelctx.h that the bridge needs. */
final class Shim {
    /** The size of struct otelctx_record. */
    static final int RECORD = 640;

    private static final int TLS = 1; // enum otelctx_storages

    private final Calls calls;
    private final long attach;
    private final long detach;
    private final long pin;

    private Shim(Calls calls) throws Throwable {
        this.calls = calls;
        attach = calls.find("otelctx_attach");
        detach = calls.find("otelctx_detach");
        pin = calls.find("otelctx_pin");
    }

    /** Null: there is no shim in this process, or it is disabled. */
    static Shim find() throws Throwable {
        if (isOff("OTEL_SDK_DISABLED") || isOff("OTELCTX_DISABLED") || !isLoaded()) {
            return null;
        }
        Calls calls =
                Memory.IS_FOREIGN
                        ? new ForeignCalls()
                        : Library.make(Calls.class, "otelctx.JnaCalls");
        long abi = calls.find("otelctx_abi");

        return abi == 0 || (int) calls.call(abi, 0, 0, 0) < 0 ? null : new Shim(calls);
    }

    private static boolean isOff(String variable) {
        return "true".equalsIgnoreCase(System.getenv(variable));
    }

    /** Without the shim no native call is made: it costs, and Java 22 warns of it. */
    private static boolean isLoaded() throws IOException {
        try (Stream<String> maps =
                Files.lines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
            return maps.anyMatch(line -> line.contains("libotelctx_preload"));
        }
    }

    /** Is the record that a thread can pin all that readers look at? */
    boolean isTlsOnly() throws Throwable {
        return call("otelctx_storage", null, null) == TLS;
    }

    int key(String name) throws Throwable {
        return call("otelctx_key", name, null);
    }

    int setResource(String key, String value) throws Throwable {
        return call("otelctx_process_set", key, value);
    }

    int publishResource() throws Throwable {
        return call("otelctx_process_publish", null, null);
    }

    private int call(String name, String first, String second) throws Throwable {
        ByteBuffer one = text(first);
        ByteBuffer two = text(second);

        return (int)
                calls.call(
                        calls.find(name),
                        one == null ? 0 : calls.address(one),
                        two == null ? 0 : calls.address(two),
                        0);
    }

    private static ByteBuffer text(String text) {
        if (text == null) {
            return null;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);

        return ByteBuffer.allocateDirect(bytes.length + 1).put(bytes).rewind();
    }

    /** The calling thread's record; 0: somebody else's is attached. */
    long pin() throws Throwable {
        return calls.call(pin, 0, 0, 0);
    }

    ByteBuffer memory(long address, int size) throws Throwable {
        return calls.memory(address, size);
    }

    long address(ByteBuffer direct) throws Throwable {
        return calls.address(direct);
    }

    /** ids: of 16 bytes of a trace id, and 8 of a span id. */
    void attach(long ids, byte flags) throws Throwable {
        calls.call(attach, ids, ids + 16, flags);
    }

    void detach() throws Throwable {
        calls.call(detach, 0, 0, 0);
    }
}
