// SPDX-License-Identifier: Apache-2.0

import com.datadoghq.profiler.JavaProfiler;
import com.datadoghq.profiler.OTelContext;
import java.nio.charset.StandardCharsets;
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
    private static final String PLAIN = "Java: attach + detach";
    private static final String FOUR = "Java: the same, 4 attributes";
    private static final String UPDATE = "Java: update of the process context";
    private static final String[] KEYS = {
        "http.route", "http.request.method", "user.id", "cloud.availability_zone"
    };
    private static final String[] VALUES = {"/api/cart", "GET", "user-4711", "eu-west-1a"};
    private static final String INSTANCE = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";
    private static final String[] LETTERS = {"a", "b"};
    private static final byte[][] BYTES = new byte[4][];
    private static final long HIGH = 0x0102030000000000L;
    private static final long SPAN = 0x0405060000000000L;
    private static final int BLOCK_NS = 100_000;

    static native void floorSet();

    static native void floorClear();

    static native int attach(long high, long low, long span, int flags);

    static native int attr(int key, byte[] value);

    static native int detach();

    static native int publish(String version);

    static native void floorPublish();

    static native void floorUpdate(int times);

    /** The loop is inside, or else all subjects would share one that the compiler cannot inline. */
    private record Subject(
            String row, String name, Runnable publish, IntConsumer loop, IntConsumer floor) {
        Subject(String row, String name, Runnable publish, IntConsumer loop) {
            this(row, name, publish, loop, Peer::floor);
        }

    }

    private static double block(IntConsumer loop, int times) {
        long begin = System.nanoTime();

        loop.accept(times);
        return (double) (System.nanoTime() - begin) / times;
    }

    private static int timesOf(IntConsumer loop, int trial) {
        for (int warmUp = 0; warmUp < 200; warmUp++) {
            block(loop, trial);
        }
        return 1 + (int) (BLOCK_NS / block(loop, trial));
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
                        PLAIN,
                        name,
                        () -> attach(HIGH, 0, SPAN, 1),
                        times -> {
                            for (int i = 0; i < times; i++) {
                                attach(HIGH, 0, SPAN, 1);
                                detach();
                            }
                        }),
                new Subject(
                        FOUR,
                        name,
                        Peer::attachFour,
                        times -> {
                            for (int i = 0; i < times; i++) {
                                attachFour();
                                detach();
                            }
                        }),
                new Subject(
                        UPDATE,
                        name,
                        () -> publish("a"),
                        times -> {
                            for (int i = 0; i < times; i++) {
                                publish(LETTERS[i % 2]);
                            }
                        },
                        Peer::floorUpdate));
    }

    /** Two attributes are set with the ids, others by calls of their own. */
    private static void setFour(JavaProfiler profiler) {
        profiler.setTraceContext(SPAN, SPAN, HIGH, 0, 0, VALUES[0], 1, VALUES[1]);
        profiler.setContextValue(2, VALUES[2]);
        profiler.setContextValue(3, VALUES[3]);
    }

    private static void publish(OTelContext context, String version) {
        context.initializeAllContext("prod", "bench", INSTANCE, "bench", version, "1", KEYS);
    }

    private static List<Subject> datadog() throws Exception {
        String name = "Datadog's Java profiler";
        OTelContext context = OTelContext.getInstance();
        publish(context, "1");
        JavaProfiler profiler = JavaProfiler.getInstance();
        return List.of(
                new Subject(
                        PLAIN,
                        name,
                        () -> profiler.setTraceContext(SPAN, SPAN, HIGH, 0, 0, null, 0, null),
                        times -> {
                            for (int i = 0; i < times; i++) {
                                profiler.setTraceContext(SPAN, SPAN, HIGH, 0, 0, null, 0, null);
                                profiler.clearTraceContext();
                            }
                        }),
                new Subject(
                        FOUR,
                        name,
                        () -> setFour(profiler),
                        times -> {
                            for (int i = 0; i < times; i++) {
                                setFour(profiler);
                                profiler.clearTraceContext();
                            }
                        }),
                new Subject(
                        UPDATE,
                        name,
                        () -> publish(context, "a"),
                        times -> {
                            for (int i = 0; i < times; i++) {
                                publish(context, LETTERS[i % 2]);
                            }
                        },
                        Peer::floorUpdate));
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

    private static void measure(Subject subject, int rounds) {
        int trial = subject.row == UPDATE ? 100 : 5000;
        int times = timesOf(subject.loop, trial);
        int floorTimes = timesOf(subject.floor, trial);
        double before = block(subject.floor, floorTimes);

        for (int i = 0; i < rounds; i++) {
            double ns = block(subject.loop, times);
            double after = block(subject.floor, floorTimes);

            System.out.printf(
                    "%s\t%s\t%.3f\t%.3f\t%.3f%n", subject.row, subject.name, before, ns, after);
            before = after;
        }
    }

    public static void main(String[] words) throws Exception {
        System.loadLibrary("bench_peers_jni");
        List<Subject> subjects = words[0].equals("otelctx") ? otelctx() : datadog();

        if (words[1].equals("show")) {
            show(subjects);
        } else {
            Thread.sleep(1100); // bench_wait_for_look() of bench.h says why
            floorPublish();
            for (Subject subject : subjects) {
                measure(subject, Integer.parseInt(words[2]));
            }
        }
    }
}
