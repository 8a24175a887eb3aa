// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Three threads serve a request each, and each says so to readers outside.
 *
 * <pre>
 *     export CLASSPATH=/usr/share/java/jna.jar:.     (Debian: libjna-java)
 *     javac Worker.java
 *     LD_PRELOAD=libotelctx_preload.so java Worker hold
 *     otelctx-read --threads PID                     (in another terminal)
 * </pre>
 */
public final class Worker {
    private static final int WORKERS = 3;
    private static final Phaser STEP = new Phaser(WORKERS + 1);
    private static boolean hold;

    /** With `hold`: waits here for the others, and then for main to go on. */
    private static void lookHere() {
        if (hold) {
            STEP.arriveAndAwaitAdvance();
            STEP.arriveAndAwaitAdvance();
        }
    }

    /** A tracer makes up ids; by these one sees who is who. */
    private static long[] ids(int number, int level) {
        long ones = 0x0101010101010101L;
        long half = number * ones;

        return new long[] {half, half, (level + number) * ones};
    }

    private static int query(int number) {
        Map<String, String> attributes = Map.of("db.operation.name", "SELECT");

        try (Span span = new Span(ids(number, 0x20), attributes)) {
            lookHere();
            return 10 * number;
        }
    }

    private static int serve(int number) {
        Map<String, String> attributes =
                Map.of("http.route", "/cart", "user.id", "user-" + number);
        int rows;

        try (Span span = new Span(ids(number, 0x10), attributes)) {
            rows = query(number);
            lookHere(); // the request's own context is back
        }
        lookHere();
        return rows;
    }

    public static void main(String[] arguments) throws Exception {
        var started = new AtomicInteger();
        var threads =
                Executors.newFixedThreadPool(
                        WORKERS,
                        work -> new Thread(
                                work, "worker-" + started.incrementAndGet()));
        List<Future<Integer>> results = new ArrayList<>();

        hold = arguments.length == 1 && arguments[0].equals("hold");
        for (int i = 1; i <= WORKERS; i++) {
            int number = i;

            results.add(threads.submit(() -> serve(number)));
        }
        if (hold) {
            var lines = new Scanner(System.in);

            for (String what : List.of("query", "request", "idle")) {
                STEP.arriveAndAwaitAdvance();
                System.out.println(what);
                if (lines.hasNextLine()) {
                    lines.nextLine();
                }
                STEP.arriveAndAwaitAdvance();
            }
        }
        for (int i = 0; i < WORKERS; i++) {
            int rows = results.get(i).get();

            System.out.println("worker " + (i + 1) + ": " + rows + " rows");
        }
        threads.shutdown();
    }
}
