// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;

/** Runs after the other customizers, so that it sees the resource and the processors they made. */
public final class LastCustomizer implements AutoConfigurationCustomizerProvider {
    @Override
    public int order() {
        return Integer.MAX_VALUE;
    }

    @Override
    public void customize(AutoConfigurationCustomizer customizer) {
        Bridge bridge = Bridge.find();

        if (bridge != null) {
            customizer.addResourceCustomizer(
                    (resource, properties) -> {
                        bridge.publish(resource);
                        return resource;
                    });
            customizer.addTracerProviderCustomizer(
                    (builder, properties) -> Ends.addTo(builder, bridge));
        }
    }
}
