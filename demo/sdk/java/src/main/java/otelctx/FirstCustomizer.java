// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;

/** Runs before the other customizers, because the first use of a context fixes the storage. */
public final class FirstCustomizer implements AutoConfigurationCustomizerProvider {
    @Override
    public int order() {
        return Integer.MIN_VALUE;
    }

    @Override
    public void customize(AutoConfigurationCustomizer customizer) {
        Bridge bridge = Bridge.find();

        if (bridge == null) {
            return;
        }
        ContextStorage.addWrapper(bridge::wrap);
        customizer.addTracerProviderCustomizer(
                (builder, properties) -> builder.addSpanProcessor(new Ends(bridge)));
    }

    private static final class Ends implements SpanProcessor {
        private final Bridge bridge;

        Ends(Bridge bridge) {
            this.bridge = bridge;
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
}
