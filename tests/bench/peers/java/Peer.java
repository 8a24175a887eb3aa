// SPDX-License-Identifier: Apache-2.0

import com.datadoghq.profiler.JavaProfiler;
import com.datadoghq.profiler.OTelContext;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The profiler in Datadog's agent for Java, and the shim, each in a process of its own:
 *
 * <pre>
 *     java Peer otelctx|datadog show
 *     java Peer otelctx|datadog measure ROUNDS
 * </pre>
 *
 * <p>The lines are those of pairs.h. Floor A is called through JNI, too.
 */
final class Peer {
    private static final String[] KEYS = {
        "http.route", "http.request.method", "user.id", "cloud.availability_zone"
    };
    private static final String[] VALUES = {"/api/cart", "GET", "user-4711", "eu-west-1a"};
    private static final byte[][] BYTES = new byte[4][];
    private static final long HIGH = 0x0102030000000000L;
    private static final long SPAN = 0x0405060000000000L;
    private static final int BLOCK_NS = 100_000;

    static native void floorSet();

    static native void floorClear();

    static native int attach(long high, long low, long span, int flags);

    static native int attr(int key, byte[] value);

    static native int detach();

    /** The loop is inside, or else all subjects would share one that the compiler cannot inline. */
    private record Subject(String row, String name, Runnable publish, IntConsumer loop) {
        double block(int times) {
            long begin = System.nanoTime();

            loop.accept(times);
            return (double) (System.nanoTime() - begin) / times;
        }
    }

    private static void floor(int times) {
        for (int i = 0; i < times; i++) {
            floorSet();
            floorClear();
        }
    }

    private static void attachFour() {
        attach(HIGH, 0, SPAN, 1);
        for (int i = 0; i < 4; i++) {
            attr(1 + i, BYTES[i]);
        }
    }

    private static List<Subject> otelctx() {
        String name = "otelctx, through JNI";
        for (int i = 0; i < 4; i++) {
            BYTES[i] = VALUES[i].getBytes(StandardCharsets.UTF_8);
        }
        return List.of(
                new Subject(
                        "Java: attach + detach",
                        name,
                        () -> attach(HIGH, 0, SPAN, 1),
                        times -> {
                            for (int i = 0; i < times; i++) {
                                attach(HIGH, 0, SPAN, 1);
                                detach();
                            }
                        }),
                new Subject(
                        "Java: the same, 4 attributes",
                        name,
                        Peer::attachFour,
                        times -> {
                            for (int i = 0; i < times; i++) {
                                attachFour();
                                detach();
                            }
                        }));
    }

    /** Two attributes are set with the ids, others by calls of their own. */
    private static void setFour(JavaProfiler profiler) {
        profiler.setTraceContext(SPAN, SPAN, HIGH, 0, 0, VALUES[0], 1, VALUES[1]);
        profiler.setContextValue(2, VALUES[2]);
        profiler.setContextValue(3, VALUES[3]);
    }

    private static List<Subject> datadog() throws Exception {
        String name = "Datadog's Java profiler";
        OTelContext.getInstance().initializeAllContext("prod", "bench", "1", "bench", "1", "1", KEYS);
        JavaProfiler profiler = JavaProfiler.getInstance();
        return List.of(
                new Subject(
                        "Java: attach + detach",
                        name,
                        () -> profiler.setTraceContext(SPAN, SPAN, HIGH, 0, 0, null, 0, null),
                        times -> {
                            for (int i = 0; i < times; i++) {
                                profiler.setTraceContext(SPAN, SPAN, HIGH, 0, 0, null, 0, null);
                                profiler.clearTraceContext();
                            }
                        }),
                new Subject(
                        "Java: the same, 4 attributes",
                        name,
                        () -> setFour(profiler),
                        times -> {
                            for (int i = 0; i < times; i++) {
                                setFour(profiler);
                                profiler.clearTraceContext();
                            }
                        }));
    }

    private static void show(List<Subject> subjects) throws Exception {
        for (Subject subject : subjects) {
            subject.publish.run();
            System.out.println(subject.row + "\t" + subject.name);
            System.out.println("published");
            for (int c = 0; c != '\n' && c != -1; ) {
                c = System.in.read();
            }
        }
    }

    private static void measure(List<Subject> subjects, int rounds) throws Exception {
        Thread.sleep(1100); // bench_wait_for_look() of bench.h says why
        Subject floor = new Subject("", "floor A", null, Peer::floor);
        List<Subject> all = new ArrayList<>(subjects);

        all.add(floor);
        int[] times = new int[all.size()];
        for (int k = 0; k < times.length; k++) {
            for (int warmUp = 0; warmUp < 200; warmUp++) {
                all.get(k).block(5000);
            }
            times[k] = 1 + (int) (BLOCK_NS / all.get(k).block(5000));
        }
        int floorTimes = times[times.length - 1];
        double before = floor.block(floorTimes);
        for (int i = 0; i < rounds; i++) {
            for (int k = 0; k < subjects.size(); k++) {
                Subject subject = subjects.get(k);
                double ns = subject.block(times[k]);
                double after = floor.block(floorTimes);

                System.out.printf(
                        "%s\t%s\t%.3f\t%.3f\t%.3f%n", subject.row, subject.name, before, ns, after);
                before = after;
            }
        }
    }

    public static void main(String[] words) throws Exception {
        System.loadLibrary("bench_peers_jni");
        List<Subject> subjects = words[0].equals("otelctx") ? otelctx() : datadog();

        if (words[1].equals("show")) {
            show(subjects);
        } else {
            measure(subjects, Integer.parseInt(words[2]));
        }
    }
}
