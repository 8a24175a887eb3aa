// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.instrumentation.api.internal.HttpRouteState;

/**
 * The http.route of a server's span. Instrumentation knows it when the server has routed the
 * request, but makes it an attribute only when the span ends; until then it is in the context.
 */
final class HttpRoute {
    static final String NAME = "http.route";

    /** It renames the span to "METHOD ROUTE", and then stores the route in the context. */
    private static final String UPDATER = ".HttpServerRoute";

    private static final int FRAMES = 8;

    private final ThreadLocal<String> renamed = new ThreadLocal<>();

    private HttpRoute() {}

    /** Null: there is no instrumentation here. Uses no context: that would fix the storage. */
    static HttpRoute find() {
        try {
            return HttpRouteState.class.isInterface() ? null : new HttpRoute();
        } catch (LinkageError e) {
            return null;
        }
    }

    String get(Span span, Context context) {
        HttpRouteState state = HttpRouteState.fromContextOrNull(context);

        if (state == null || state.getSpan() != span) {
            return null;
        }
        String name = renamed.get();

        return name == null ? state.getRoute() : name.substring(name.indexOf(' ') + 1);
    }

    /** Is the calling thread about to store a route? Then show() sees it. */
    void ifStored(String name, Runnable show) {
        boolean isStored =
                StackWalker.getInstance()
                        .walk(
                                frames ->
                                        frames.limit(FRAMES)
                                                .anyMatch(
                                                        frame ->
                                                                frame.getClassName()
                                                                        .endsWith(UPDATER)));

        if (isStored) {
            renamed.set(name);
            try {
                show.run();
            } finally {
                renamed.remove();
            }
        }
    }
}
