// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;

/**
 * The storage of contexts that the program has anyway, which also shows what is current. Programs
 * close the API's strict storage, which they expect to get.
 */
final class SpanStorage implements ContextStorage, AutoCloseable {
    private final ContextStorage storage;
    private final Bridge bridge;

    SpanStorage(ContextStorage storage, Bridge bridge) {
        this.storage = storage;
        this.bridge = bridge;
    }

    @Override
    public Scope attach(Context context) {
        Scope scope = storage.attach(context);

        // Nothing has changed: the context was current before.
        return scope == Scope.noop() ? scope : bridge.enter(storage, scope, context);
    }

    @Override
    public Context current() {
        return storage.current();
    }

    @Override
    public Context root() {
        return storage.root();
    }

    @Override
    public void close() throws Exception {
        if (storage instanceof AutoCloseable) {
            ((AutoCloseable) storage).close();
        }
    }
}
