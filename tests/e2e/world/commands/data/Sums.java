// SPDX-License-Identifier: Apache-2.0
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

public class Sums {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Callable<Long>> jobs = IntStream.range(0, 16)
            .<Callable<Long>>mapToObj(i -> () -> LongStream.range(0, i * 10000L).map(x -> x * x).sum())
            .toList();
        for (Future<Long> sum : pool.invokeAll(jobs))
            System.out.println(sum.get());
        pool.shutdown();
        Process sort = new ProcessBuilder("sort", "words").start();
        System.out.write(sort.getInputStream().readAllBytes());
        System.out.println(sort.waitFor());
        throw new IllegalStateException("at the end");
    }
}
