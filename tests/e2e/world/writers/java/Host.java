// SPDX-License-Identifier: Apache-2.0

/** Works until it is ended, in a span if the agent is told to make one. */
public class Host {
    static void work() throws InterruptedException {
        Thread.sleep(600_000);
    }

    public static void main(String[] arguments) throws InterruptedException {
        work();
    }
}
