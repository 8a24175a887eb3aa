// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.ContextStorageProvider;

/**
 * For programs that assemble the SDK by hand. No service of this jar, because with two providers
 * the API uses none of them: a program may have one of its own. See README.md.
 */
public final class StorageProvider implements ContextStorageProvider {
    @Override
    public ContextStorage get() {
        Bridge bridge = Bridge.find();
        ContextStorage storage = ContextStorage.defaultStorage();

        return bridge == null ? storage : bridge.wrap(storage);
    }
}
