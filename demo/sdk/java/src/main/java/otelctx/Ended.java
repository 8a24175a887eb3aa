// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.trace.ReadableSpan;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Has a span ended? Reads the field, because ReadableSpan.hasEnded() takes a lock. */
final class Ended {
    private static final String SPAN = "io.opentelemetry.sdk.trace.SdkSpan";
    private static final Class<?> TYPE = type();
    private static final MethodHandle STATE = state();
    private static final Object STILL_GOING = STATE == null ? null : first();

    private Ended() {}

    private static Class<?> type() {
        try {
            return Class.forName(SPAN, false, ReadableSpan.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    /** Its state; null: this SDK has it elsewhere. */
    private static MethodHandle state() {
        try {
            Class<?> state = Class.forName(SPAN + "$EndState", false, TYPE.getClassLoader());

            return MethodHandles.privateLookupIn(TYPE, MethodHandles.lookup())
                    .findGetter(TYPE, "hasEnded", state)
                    .asType(MethodType.methodType(Object.class, Object.class));
        } catch (Exception | LinkageError e) {
            return null;
        }
    }

    private static Object first() {
        try {
            Class<?> state = Class.forName(SPAN + "$EndState", true, TYPE.getClassLoader());

            return state.getEnumConstants()[0];
        } catch (Exception | LinkageError e) {
            return null;
        }
    }

    static boolean is(Span span) throws Throwable {
        if (STILL_GOING != null && span.getClass() == TYPE) {
            Object state = (Object) STATE.invokeExact((Object) span);

            // ENDING, too, is not STILL_GOING: the SDK knows.
            return state != STILL_GOING && ((ReadableSpan) span).hasEnded();
        }
        return span instanceof ReadableSpan && ((ReadableSpan) span).hasEnded();
    }
}
