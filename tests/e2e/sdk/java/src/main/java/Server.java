// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty with a pool of threads of its own, and one of the program's, to which a handler hands half
 * of its work. Prints its port, and at the end of its input the trace and span of each request.
 */
public final class Server {
    private static final Queue<String> SEEN = new ConcurrentLinkedQueue<>();
    private static final ExecutorService POOL = Executors.newFixedThreadPool(4);
    private static volatile long sink;

    private Server() {}

    private static void compute(String route) {
        SpanContext span = Span.current().getSpanContext();
        long sum = 0;

        Truth.begin(span, route);
        for (int i = 0; i < 400_000; i++) {
            sum += sum * 31 + i;
        }
        Truth.end();
        sink = sum;
        SEEN.add(span.getTraceId() + " " + span.getSpanId());
    }

    /** The route is what the servlet's mapping says. */
    private static HttpServlet servlet(String route) {
        return new HttpServlet() {
            private static final long serialVersionUID = 1;

            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response)
                    throws IOException {
                Future<?> half = POOL.submit(() -> compute(route));

                compute(route);
                try {
                    half.get();
                } catch (Exception e) {
                    throw new IOException(e);
                }
                compute(route);
                response.getWriter().println(Span.current().getSpanContext().getTraceId());
            }
        };
    }

    public static void main(String[] arguments) throws Exception {
        var server = new org.eclipse.jetty.server.Server(new QueuedThreadPool(12));
        var connector = new ServerConnector(server);
        var context = new ServletContextHandler("/");

        for (String route : new String[] {"/cart/*", "/order/*", "/about"}) {
            context.addServlet(new ServletHolder(servlet(route)), route);
        }
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
        System.out.println(connector.getLocalPort());
        while (System.in.read() >= 0) {}
        server.stop();
        POOL.shutdown();
        SEEN.stream().sorted().distinct().forEach(System.out::println);
    }
}
