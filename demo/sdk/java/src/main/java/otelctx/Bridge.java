// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.resources.Resource;
import java.util.concurrent.atomic.AtomicBoolean;

/** The bridge of this process, and what the environment says about it. */
final class Bridge {
    /** Two bridges would write the same records: one in the agent, one on the class path. */
    private static final String MARK = "otelctx.bridge";

    private static Bridge instance;
    private static boolean isSought;

    private final ThreadLocal<Display> displays = new ThreadLocal<>();
    private final AtomicBoolean isResourceKnown = new AtomicBoolean();
    private final Shim shim;
    private final boolean isTlsOnly;
    private final SpanAttributes attributes;
    private final boolean isResourceWanted;

    private Bridge(Shim shim) throws Throwable {
        String resource = System.getenv("OTELCTX_RESOURCE");

        this.shim = shim;
        isTlsOnly = shim.isTlsOnly();
        attributes = isTlsOnly ? SpanAttributes.wanted(shim) : null;
        isResourceWanted = "sdk".equals(resource);
        if (resource != null && !resource.isEmpty() && !isResourceWanted) {
            System.err.println(
                    "otelctx: OTELCTX_RESOURCE=" + resource + ": it can only be sdk; ignored");
        }
        if (attributes != null) {
            SdkSpanHook.install(this::changed);
        }
    }

    /** Null: there is no shim, or another bridge is at work. */
    static synchronized Bridge find() {
        if (!isSought) {
            isSought = true;
            try {
                Shim shim = Shim.find();

                if (shim != null && System.getProperties().putIfAbsent(MARK, "on") == null) {
                    instance = new Bridge(shim);
                }
            } catch (Throwable e) {
                System.err.println("otelctx: no span is shown: " + cause(e));
            }
        }
        return instance;
    }

    /** What a reflective call or a class's initializer had to say. */
    private static Throwable cause(Throwable e) {
        return e.getCause() == null ? e : cause(e.getCause());
    }

    ContextStorage wrap(ContextStorage storage) {
        return new SpanStorage(storage, this);
    }

    Scope enter(ContextStorage storage, Scope scope, Context context) {
        Display display = displays.get();

        try {
            if (display == null) {
                display = new Display(displays, shim, attributes, isTlsOnly);
                displays.set(display);
            }
            return display.enter(storage, scope, context);
        } catch (Throwable e) {
            if (display != null) {
                display.hide(); // what is shown is not current any more
            }
            return scope;
        }
    }

    /** The calling thread has ended a span. */
    void ended(Object span) {
        Display display = displays.get();

        if (display != null) {
            display.changed(span);
        }
    }

    /** The calling thread has set an attribute of a span, whose key this is; or its name. */
    private void changed(Object span, Object what) {
        Display display = displays.get();

        if (display != null && display.isCurrent(span)) {
            attributes.changed(what, () -> display.changed(span));
        }
    }

    /** The first resource of an SDK becomes the process context. */
    void publish(Resource resource) {
        if (!isResourceWanted || !isResourceKnown.compareAndSet(false, true)) {
            return;
        }
        try {
            for (var each : resource.getAttributes().asMap().entrySet()) {
                switch (each.getKey().getType()) {
                    case STRING:
                    case BOOLEAN:
                    case LONG:
                    case DOUBLE:
                        shim.setResource(each.getKey().getKey(), each.getValue().toString());
                        break;
                    default:
                        break;
                }
            }
            shim.publishResource();
        } catch (Throwable e) {
            System.err.println("otelctx: no resource is published: " + cause(e));
        }
    }
}
