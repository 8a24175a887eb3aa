// SPDX-License-Identifier: Apache-2.0
package otelctx;

import java.nio.ByteBuffer;

/**
 * Calls of C functions. An argument is an integer or a pointer; both ABIs (x86-64, aarch64) pass
 * the first three in registers, and a function ignores those beyond its own.
 *
 * <p>Public, as what Library loads, because that is another loader's package.
 */
public interface Calls {
    /** The address of a function of the process, or 0. */
    long find(String name) throws Throwable;

    long call(long function, long first, long second, long third) throws Throwable;

    long address(ByteBuffer direct) throws Throwable;

    ByteBuffer memory(long address, int size) throws Throwable;
}
