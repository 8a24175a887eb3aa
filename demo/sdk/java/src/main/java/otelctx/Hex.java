// SPDX-License-Identifier: Apache-2.0
package otelctx;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Eight bytes from sixteen lower-case hexadecimal digits, as valid span contexts have them. */
final class Hex {
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private Hex() {}

    /** The bytes are ASCII, a digit each. */
    static long parse(byte[] digits, int from) {
        return half((long) LONG.get(digits, from)) << 32 | half((long) LONG.get(digits, from + 8));
    }

    /** Eight digits at once: '0'..'9' are 0x30.., 'a'..'f' 0x61.. */
    private static long half(long digits) {
        long value =
                (digits & 0x0f0f0f0f0f0f0f0fL) + (digits >>> 6 & 0x0101010101010101L) * 9;

        value = (value | value >>> 4) & 0x00ff00ff00ff00ffL;
        value = (value | value >>> 8) & 0x0000ffff0000ffffL;
        return (value | value >>> 16) & 0xffffffffL;
    }
}
