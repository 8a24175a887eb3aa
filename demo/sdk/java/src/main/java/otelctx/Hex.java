// SPDX-License-Identifier: Apache-2.0
package otelctx;

/** Eight bytes from sixteen lower-case hexadecimal digits, as valid span contexts have them. */
final class Hex {
    private static final byte[] DIGITS = new byte[128];

    static {
        for (int i = 0; i < 16; i++) {
            DIGITS[Character.forDigit(i, 16)] = (byte) i;
        }
    }

    private Hex() {}

    static long parse(String text, int from) {
        long value = 0;

        for (int i = from; i < from + 16; i++) {
            value = value << 4 | DIGITS[text.charAt(i) & 127];
        }
        return value;
    }
}
