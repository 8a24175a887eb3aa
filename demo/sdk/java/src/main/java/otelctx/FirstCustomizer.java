// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;

/** Runs before the other customizers, because the first use of a context fixes the storage. */
public final class FirstCustomizer implements AutoConfigurationCustomizerProvider {
    @Override
    public int order() {
        return Integer.MIN_VALUE;
    }

    @Override
    public void customize(AutoConfigurationCustomizer customizer) {
        Bridge bridge = Bridge.find();

        if (bridge != null) {
            ContextStorage.addWrapper(bridge::wrap);
        }
    }
}
