// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SdkTracerProviderBuilder;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.Map;
import java.util.TreeMap;

/**
 * Goes through spans on one thread, with the SDK alone: prints each step, and waits for a line.
 * With `manual` it assembles the SDK by hand. In the end it prints what was exported.
 */
public final class Steps {
    private static final InMemorySpanExporter EXPORTER = InMemorySpanExporter.create();

    private Steps() {}

    /** Ids that count up. */
    private static final class Ids implements IdGenerator {
        private long last;

        @Override
        public String generateTraceId() {
            return "4bf92f3577b34da6" + generateSpanId();
        }

        @Override
        public String generateSpanId() {
            return String.format("a3ce929d%08x", ++last);
        }
    }

    private static SdkTracerProviderBuilder prepare(SdkTracerProviderBuilder builder) {
        return builder.setIdGenerator(new Ids())
                .addSpanProcessor(SimpleSpanProcessor.create(EXPORTER));
    }

    static Tracer tracer(boolean isManual) {
        OpenTelemetrySdk sdk =
                isManual
                        ? OpenTelemetrySdk.builder()
                                .setTracerProvider(prepare(SdkTracerProvider.builder()).build())
                                .build()
                        : AutoConfiguredOpenTelemetrySdk.builder()
                                .addTracerProviderCustomizer((builder, p) -> prepare(builder))
                                .build()
                                .getOpenTelemetrySdk();

        return sdk.getTracer("steps");
    }

    private static Map<String, Object> names(Attributes attributes) {
        Map<String, Object> names = new TreeMap<>();

        attributes.forEach((key, value) -> names.put(key.getKey(), value));
        return names;
    }

    static void step(String name) throws Exception {
        System.out.println(name);
        while (System.in.read() > '\n') {}
    }

    private static void onVirtualThread(Tracer tracer) throws Exception {
        Runnable work =
                () -> {
                    try (Scope scope = tracer.spanBuilder("virtual").startSpan().makeCurrent()) {
                        step("virtual");
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                };

        // Since Java 21.
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Thread thread =
                (Thread)
                        Class.forName("java.lang.Thread$Builder")
                                .getMethod("start", Runnable.class)
                                .invoke(builder, work);

        thread.join();
    }

    public static void main(String[] arguments) throws Exception {
        Tracer tracer = tracer(arguments.length == 1 && arguments[0].equals("manual"));
        Span outer = tracer.spanBuilder("outer").setAttribute("http.route", "/a").startSpan();

        step("before");
        try (Scope scope = outer.makeCurrent()) {
            step("outer");
            outer.setAttribute("http.route", "/late");
            outer.setAttribute("unknown", "x");
            outer.setAttribute(AttributeKey.longKey("shard"), 7L);
            outer.setAttribute(AttributeKey.booleanKey("cached"), true);
            step("late");

            Span inner = tracer.spanBuilder("inner").startSpan();

            try (Scope within = inner.makeCurrent()) {
                outer.setAttribute("http.route", "/later");
                step("inner");
            }
            inner.end();
            step("back");

            SpanContext remote =
                    SpanContext.createFromRemoteParent(
                            "11111111111111111111111111111111",
                            "2222222222222222",
                            TraceFlags.getDefault(),
                            TraceState.getDefault());

            try (Scope within = Span.wrap(remote).makeCurrent()) {
                step("remote");
            }
            try (Scope within = Span.getInvalid().makeCurrent()) {
                step("invalid");
            }
            outer.end();
            step("ended");
        }
        step("closed");

        Span one = tracer.spanBuilder("one").startSpan();
        Span two = tracer.spanBuilder("two").startSpan();
        Scope first = one.makeCurrent();
        Scope second = two.makeCurrent();

        first.close();
        step("two " + Span.current().getSpanContext().getSpanId());
        second.close();
        step("one " + Span.current().getSpanContext().getSpanId());
        one.end();
        two.end();
        if (Runtime.version().feature() >= 21) {
            onVirtualThread(tracer);
        }
        EXPORTER.getFinishedSpanItems().forEach(
                span -> System.out.println(span.getName() + " " + span.getSpanContext()
                        + " " + names(span.getAttributes())));
    }
}
