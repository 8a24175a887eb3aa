// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.trace.SpanContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What this thread works for: its slot of the file of truth.h, which TRUTH names. */
final class Truth {
    private static final int SLOT = 64;
    private static final int SLOTS = 4096;
    private static final MappedByteBuffer FILE = map();
    private static final ThreadLocal<ByteBuffer> OWN = ThreadLocal.withInitial(Truth::slot);

    private Truth() {}

    private static MappedByteBuffer map() {
        Path path = Path.of(System.getenv().getOrDefault("TRUTH", "/dev/null"));

        try (FileChannel file =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return file.map(FileChannel.MapMode.READ_WRITE, 0, SLOT * SLOTS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ByteBuffer slot() {
        try {
            String[] own = Files.readSymbolicLink(Path.of("/proc/thread-self")).toString().split("/");
            int tid = Integer.parseInt(own[2]);
            ByteBuffer slot = FILE.slice(tid % SLOTS * SLOT, SLOT).order(ByteOrder.LITTLE_ENDIAN);

            slot.putInt(8, Integer.parseInt(own[0])).putInt(12, tid);
            return slot;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void begin(SpanContext span, String route) {
        byte[] text = route.getBytes(StandardCharsets.UTF_8);
        ByteBuffer slot = OWN.get();

        slot.put(16, span.getTraceIdBytes()).put(32, span.getSpanIdBytes());
        slot.put(40, new byte[24]).put(40, text);
        step(slot);
    }

    static void end() {
        step(OWN.get());
    }

    private static void step(ByteBuffer slot) {
        java.lang.invoke.VarHandle.fullFence();
        slot.putLong(0, slot.getLong(0) + 1);
        java.lang.invoke.VarHandle.fullFence();
    }
}
