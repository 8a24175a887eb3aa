// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProviderBuilder;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.lang.invoke.MethodHandles;
import java.util.List;

/** Tells the bridge of spans that have ended. */
final class Ends implements SpanProcessor {
    private final Bridge bridge;

    private Ends(Bridge bridge) {
        this.bridge = bridge;
    }

    /** Not to an SDK without processors, which makes no spans: with this one it would. */
    static SdkTracerProviderBuilder addTo(SdkTracerProviderBuilder builder, Bridge bridge) {
        if (hasNone(builder)) {
            return builder;
        }
        try {
            return builder.addSpanProcessorFirst(new Ends(bridge));
        } catch (NoSuchMethodError e) {
            return builder.addSpanProcessor(new Ends(bridge));
        }
    }

    private static boolean hasNone(SdkTracerProviderBuilder builder) {
        try {
            Class<?> type = SdkTracerProviderBuilder.class;
            Object processors =
                    MethodHandles.privateLookupIn(type, MethodHandles.lookup())
                            .findGetter(type, "spanProcessors", List.class)
                            .invoke(builder);

            return ((List<?>) processors).isEmpty();
        } catch (Throwable e) {
            return false; // an SDK that has them elsewhere
        }
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
        return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
        bridge.ended(span);
    }

    @Override
    public boolean isEndRequired() {
        return true;
    }
}
