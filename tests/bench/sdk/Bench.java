// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * What it costs to make a span current, and to close its scope: in the storage that the SDK has
 * without the bridge, and in the one that it has; in turn, on the same spans.
 */
public final class Bench {
    private static final int SPANS = 64;
    private static final int LOOPS = 2_000_000;
    private static final int WARM = 10;
    private static final int ROUNDS = 31;
    private static final ThreadMXBean TIME = ManagementFactory.getThreadMXBean();

    private Bench() {}

    private static double plain(Context[] contexts) {
        ContextStorage storage = ContextStorage.defaultStorage();
        long begin = TIME.getCurrentThreadCpuTime();

        for (int i = 0; i < LOOPS; i++) {
            try (Scope scope = storage.attach(contexts[i % SPANS])) {}
        }
        return (double) (TIME.getCurrentThreadCpuTime() - begin) / LOOPS;
    }

    private static double bridged(Context[] contexts) {
        long begin = TIME.getCurrentThreadCpuTime();

        for (int i = 0; i < LOOPS; i++) {
            try (Scope scope = contexts[i % SPANS].makeCurrent()) {}
        }
        return (double) (TIME.getCurrentThreadCpuTime() - begin) / LOOPS;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();

        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static void measure(String what, Context[] contexts) {
        double[] plain = new double[ROUNDS];
        double[] bridged = new double[ROUNDS];
        double[] difference = new double[ROUNDS];
        double[] ratio = new double[ROUNDS];

        for (int i = -WARM; i < ROUNDS; i++) {
            double without = plain(contexts);
            double with = bridged(contexts);

            if (i >= 0) {
                plain[i] = without;
                bridged[i] = with;
                difference[i] = with - without;
                ratio[i] = with / without;
            }
        }
        System.out.printf(
                "%-28s without %6.1f ns  with %6.1f ns  difference %6.1f ns  ratio %5.2f%n",
                what, median(plain), median(bridged), median(difference), median(ratio));
    }

    public static void main(String[] arguments) {
        // Without a processor the SDK makes no spans. The spans here do not end.
        SpanProcessor processor = SimpleSpanProcessor.create(InMemorySpanExporter.create());
        Tracer tracer =
                AutoConfiguredOpenTelemetrySdk.builder()
                        .addTracerProviderCustomizer((b, p) -> b.addSpanProcessor(processor))
                        .build()
                        .getOpenTelemetrySdk()
                        .getTracer("b");
        Context[] contexts = new Context[SPANS];

        for (int i = 0; i < SPANS; i++) {
            contexts[i] = Context.root().with(
                    tracer.spanBuilder("s").setAttribute("http.route", "/cart/" + i).startSpan());
        }
        measure("a span", contexts);
        try (Scope outer = contexts[0].makeCurrent()) {
            contexts[0] = contexts[1];
            measure("a span within another", contexts);
        }
    }
}
