// SPDX-License-Identifier: Apache-2.0
package otelctx;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicBoolean;

/** A virtual thread has no record: that is its carrier's, and it changes carriers. */
final class VirtualThreads {
    private static final MethodHandle IS_VIRTUAL = find();
    private static final AtomicBoolean TOLD = new AtomicBoolean();

    private VirtualThreads() {}

    private static MethodHandle find() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(
                            Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException e) {
            return null; // before Java 21
        }
    }

    static boolean isVirtual(Thread thread) throws Throwable {
        return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(thread);
    }

    static void tell() {
        if (TOLD.compareAndSet(false, true)) {
            System.err.println("otelctx: virtual threads show no span");
        }
    }
}
