// SPDX-License-Identifier: Apache-2.0
package otelctx;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** From Java 22 on: java.lang.foreign, by reflection because the jar is for Java 11, too. */
final class ForeignCalls implements Calls {
    private final MethodHandle call;
    private final Method ofAddress;
    private final Method ofBuffer;
    private final Method addressOf;
    private final Method reinterpret;
    private final Method asByteBuffer;
    private final long dlsym;

    ForeignCalls() throws ReflectiveOperationException {
        Class<?> linkers = Class.forName("java.lang.foreign.Linker");
        Class<?> options = Class.forName("java.lang.foreign.Linker$Option");
        Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
        Class<?> layouts = Class.forName("java.lang.foreign.MemoryLayout");
        Class<?> values = Class.forName("java.lang.foreign.ValueLayout");
        Class<?> descriptors = Class.forName("java.lang.foreign.FunctionDescriptor");
        Class<?> lookups = Class.forName("java.lang.foreign.SymbolLookup");
        Object word = values.getField("JAVA_LONG").get(null);
        Object words = Array.newInstance(layouts, 3);
        Object linker = linkers.getMethod("nativeLinker").invoke(null);

        for (int i = 0; i < 3; i++) {
            Array.set(words, i, word);
        }
        Object function =
                descriptors.getMethod("of", layouts, words.getClass()).invoke(null, word, words);
        Object none = Array.newInstance(options, 0);

        ofAddress = segments.getMethod("ofAddress", long.class);
        ofBuffer = segments.getMethod("ofBuffer", java.nio.Buffer.class);
        addressOf = segments.getMethod("address");
        reinterpret = segments.getMethod("reinterpret", long.class);
        asByteBuffer = segments.getMethod("asByteBuffer");
        call =
                MethodHandles.filterArguments(
                        (MethodHandle)
                                linkers.getMethod("downcallHandle", descriptors, none.getClass())
                                        .invoke(linker, function, none),
                        0,
                        MethodHandles.publicLookup()
                                .findStatic(
                                        segments,
                                        "ofAddress",
                                        MethodType.methodType(segments, long.class)));

        // The lookup knows libc alone; libc's dlsym knows what is preloaded.
        Object libc = linkers.getMethod("defaultLookup").invoke(linker);
        Optional<?> found =
                (Optional<?>) lookups.getMethod("find", String.class).invoke(libc, "dlsym");

        dlsym = (long) addressOf.invoke(found.orElseThrow());
    }

    @Override
    public long find(String name) throws Throwable {
        byte[] text = name.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer direct = ByteBuffer.allocateDirect(text.length + 1).put(text);

        return call(dlsym, 0, address(direct.rewind()), 0); // 0: RTLD_DEFAULT
    }

    @Override
    public long call(long function, long first, long second, long third) throws Throwable {
        return (long) call.invokeExact(function, first, second, third);
    }

    @Override
    public long address(ByteBuffer direct) throws ReflectiveOperationException {
        return (long) addressOf.invoke(ofBuffer.invoke(null, direct));
    }

    @Override
    public ByteBuffer memory(long address, int size) throws ReflectiveOperationException {
        Object segment = reinterpret.invoke(ofAddress.invoke(null, address), (long) size);

        return (ByteBuffer) asByteBuffer.invoke(segment);
    }
}
