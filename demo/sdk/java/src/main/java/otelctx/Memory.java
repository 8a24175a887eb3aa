// SPDX-License-Identifier: Apache-2.0
package otelctx;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Field;

/**
 * Writes to addresses: with java.lang.foreign from Java 22 on, and before with Unsafe, by which
 * later versions print a warning. A byte buffer costs 5 ns more for each span on Java 17, and 8 on
 * Java 25: it checks its bounds and scope at each access.
 */
final class Memory {
    static final boolean IS_FOREIGN = Runtime.version().feature() >= 22;

    // Constants, or else calls of them are slow. Arguments: address, value.
    private static final MethodHandle PUT_LONG;
    private static final MethodHandle RELEASE_INT;

    static {
        try {
            if (IS_FOREIGN) {
                PUT_LONG = foreign("JAVA_LONG_UNALIGNED", VarHandle.AccessMode.SET);
                RELEASE_INT = foreign("JAVA_INT", VarHandle.AccessMode.SET_RELEASE);
            } else {
                Class<?> type = Class.forName("sun.misc.Unsafe");
                Field field = type.getDeclaredField("theUnsafe");
                MethodHandles.Lookup lookup = MethodHandles.publicLookup();

                field.setAccessible(true);
                Object unsafe = field.get(null);

                PUT_LONG =
                        lookup.bind(
                                unsafe, "putLong", methodType(void.class, long.class, long.class));
                RELEASE_INT =
                        lookup.bind(
                                        unsafe,
                                        "putOrderedInt",
                                        methodType(
                                                void.class, Object.class, long.class, int.class))
                                .bindTo(null);
            }
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Memory() {}

    private static MethodHandle foreign(String layout, VarHandle.AccessMode mode)
            throws ReflectiveOperationException {
        Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
        Class<?> layouts = Class.forName("java.lang.foreign.MemoryLayout");
        Class<?> values = Class.forName("java.lang.foreign.ValueLayout");
        Class<?> elements = Class.forName("java.lang.foreign.MemoryLayout$PathElement");
        Object path = Array.newInstance(elements, 0);
        Object all =
                segments.getMethod("reinterpret", long.class)
                        .invoke(segments.getField("NULL").get(null), Long.MAX_VALUE);
        VarHandle handle =
                (VarHandle)
                        layouts.getMethod("varHandle", path.getClass())
                                .invoke(values.getField(layout).get(null), path);

        return handle.toMethodHandle(mode).bindTo(all);
    }

    /** The bytes of an id: the highest first. */
    static void putId(long address, long id) throws Throwable {
        PUT_LONG.invokeExact(address, Long.reverseBytes(id));
    }

    /** What was written before is seen before. */
    static void release(long address, int value) throws Throwable {
        RELEASE_INT.invokeExact(address, value);
    }
}
