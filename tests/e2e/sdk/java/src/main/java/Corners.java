// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;

/** What few programs do, a case each. Prints each step and waits for a line, as Steps does. */
public final class Corners {
    private static final int MANY = 400_000;

    private Corners() {}

    private static Span span() {
        return Steps.tracer(false).spanBuilder("span").startSpan();
    }

    /** Closes the scope that another thread has opened with the same context. */
    private static void closeForAnother() throws Exception {
        Span span = span();
        Context context = Context.root().with(span);
        Scope[] there = new Scope[1];
        Thread thread = new Thread(() -> there[0] = context.makeCurrent());

        thread.start();
        thread.join();
        try (Scope here = context.makeCurrent()) {
            Steps.step("entered");
            there[0].close();
            Steps.step("closed " + Span.current().getSpanContext().isValid());
        }
    }

    /** Its ids are none. */
    private static SpanContext odd() {
        return (SpanContext)
                Proxy.newProxyInstance(
                        Corners.class.getClassLoader(),
                        new Class<?>[] {SpanContext.class},
                        (object, method, arguments) -> {
                            switch (method.getName()) {
                                case "isValid":
                                    return true;
                                case "getTraceFlags":
                                    return TraceFlags.getDefault();
                                default:
                                    return "odd";
                            }
                        });
    }

    private static void oddIds() throws Exception {
        try (Scope outer = span().makeCurrent()) {
            try (Scope inner = Span.wrap(odd()).makeCurrent()) {
                Steps.step(Span.current().getSpanContext().getSpanId());
            }
            Steps.step("back");
        }
    }

    private static void neverClose() throws Exception {
        SpanContext remote =
                SpanContext.createFromRemoteParent(
                        "11111111111111111111111111111111",
                        "2222222222222222",
                        TraceFlags.getDefault(),
                        TraceState.getDefault());

        Steps.tracer(false);
        for (int i = 0; i < MANY; i++) {
            Span.wrap(remote).makeCurrent();
        }
        Steps.step("survived");
    }

    /** Scopes within scopes, more than the bridge remembers. */
    private static void nest(Tracer tracer, int level) throws Exception {
        try (Scope scope = tracer.spanBuilder("span").startSpan().makeCurrent()) {
            if (level < 200) {
                nest(tracer, level + 1);
            }
            if (level % 50 == 1) {
                Steps.step("level " + Span.current().getSpanContext().getSpanId());
            }
        }
    }

    private static void withoutProcessors() throws Exception {
        Tracer tracer =
                AutoConfiguredOpenTelemetrySdk.builder()
                        .build()
                        .getOpenTelemetrySdk()
                        .getTracer("corners");

        try (Scope scope = tracer.spanBuilder("span").startSpan().makeCurrent()) {
            Steps.step("valid " + Span.current().getSpanContext().isValid());
        }
    }

    /** Whether the bridge has loaded a library from the program's folder, or set a property. */
    private static void library() throws Exception {
        try (Scope scope = span().makeCurrent()) {
            Steps.step("entered");
        }
        System.out.println(
                Files.readString(Path.of("/proc/self/maps")).contains("/of the program/")
                        + " " + System.getProperty("jna.loaded"));
    }

    /** The storage that finds scopes that nobody closes. */
    private static void closeStorage() throws Exception {
        try (Scope scope = span().makeCurrent()) {
            Steps.step("entered");
        }
        ((AutoCloseable) ContextStorage.get()).close();
        Steps.step("closed");
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "another":
                closeForAnother();
                break;
            case "odd":
                oddIds();
                break;
            case "unclosed":
                neverClose();
                break;
            case "nested":
                nest(Steps.tracer(false), 0);
                break;
            case "processors":
                withoutProcessors();
                break;
            case "storage":
                closeStorage();
                break;
            case "library":
                library();
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }
}
