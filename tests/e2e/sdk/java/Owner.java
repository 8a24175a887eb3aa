// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Java 22 and later: a tracer that has attached a record of its own, and a span of the SDK. */
public final class Owner {
    private static final int RECORD = 640;
    private static final int IDS = 24;

    private Owner() {}

    private static MemorySegment symbol(String name) throws Throwable {
        Linker linker = Linker.nativeLinker();
        MemorySegment dlsym = linker.defaultLookup().find("dlsym").orElseThrow();

        return (MemorySegment)
                linker.downcallHandle(
                                dlsym,
                                FunctionDescriptor.of(
                                        ValueLayout.ADDRESS,
                                        ValueLayout.ADDRESS,
                                        ValueLayout.ADDRESS))
                        .invoke(MemorySegment.NULL, Arena.global().allocateFrom(name));
    }

    private static void attach() throws Throwable {
        MemorySegment record = Arena.global().allocate(RECORD, 8);

        record.asSlice(0, IDS).fill((byte) 0x33);
        record.set(ValueLayout.JAVA_BYTE, IDS, (byte) 1); // valid
        Linker.nativeLinker()
                .downcallHandle(
                        symbol("otelctx_swap"),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS))
                .invoke(record, MemorySegment.NULL);
    }

    private static void step(String name) throws Exception {
        System.out.println(name);
        while (System.in.read() > '\n') {}
    }

    public static void main(String[] arguments) throws Throwable {
        AutoConfiguredOpenTelemetrySdk.initialize();
        attach();
        Span span =
                Span.wrap(
                        SpanContext.create(
                                "11111111111111111111111111111111",
                                "2222222222222222",
                                TraceFlags.getSampled(),
                                TraceState.getDefault()));

        try (Scope scope = span.makeCurrent()) {
            step("within");
        }
        step("after");
    }
}
