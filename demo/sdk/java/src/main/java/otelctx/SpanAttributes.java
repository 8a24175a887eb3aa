// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadableSpan;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The attributes of spans that are shown: OTELCTX_SPAN_ATTRIBUTES. */
final class SpanAttributes {
    private static final int VALUE = 255;

    private static final class Key {
        private final byte index;
        private final String name;
        private final List<AttributeKey<?>> types;

        Key(int index, String name) {
            this.index = (byte) index;
            this.name = name;
            types =
                    List.of(
                            AttributeKey.stringKey(name),
                            AttributeKey.longKey(name),
                            AttributeKey.booleanKey(name),
                            AttributeKey.doubleKey(name));
        }
    }

    private final List<Key> keys = new ArrayList<>();
    private final HttpRoute route = HttpRoute.find();

    private SpanAttributes() {}

    /** Null: none are wanted. */
    static SpanAttributes wanted(Shim shim) throws Throwable {
        String names = System.getenv("OTELCTX_SPAN_ATTRIBUTES");
        SpanAttributes wanted = new SpanAttributes();

        for (String each : (names == null ? "" : names).split(",")) {
            String name = each.strip();
            int index = name.isEmpty() ? 0 : shim.key(name);

            if (index < 0) {
                System.err.println(
                        "otelctx: OTELCTX_SPAN_ATTRIBUTES: "
                                + name
                                + ": no key, errno "
                                + -index);
            } else if (!name.isEmpty() && !wanted.contains(name)) {
                wanted.keys.add(new Key(index, name));
            }
        }
        return wanted.keys.isEmpty() ? null : wanted;
    }

    /** A span has got an attribute or a name: calls show() if that changes what is shown. */
    void changed(Object what, Runnable show) {
        if (what instanceof AttributeKey) {
            if (contains(((AttributeKey<?>) what).getKey())) {
                show.run();
            }
        } else if (what != null && route != null && contains(HttpRoute.NAME)) {
            route.ifStored((String) what, show);
        }
    }

    private boolean contains(String name) {
        for (Key key : keys) {
            if (key.name.equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** Writes the index, length and value of each that the span has, and that there is room for. */
    void encode(Span span, Context context, ByteBuffer out) {
        if (!(span instanceof ReadableSpan)) {
            return;
        }
        for (Key key : keys) {
            Object value = value(key, (ReadableSpan) span);

            if (value == null && route != null && key.name.equals(HttpRoute.NAME)) {
                value = route.get(span, context);
            }
            if (value != null) {
                put(out, key.index, value.toString().getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private static Object value(Key key, ReadableSpan span) {
        for (AttributeKey<?> type : key.types) {
            Object value = span.getAttribute(type);

            if (value != null) {
                return value;
            }
        }
        return null;
    }

    private static void put(ByteBuffer out, byte index, byte[] text) {
        int length = Math.min(text.length, VALUE);

        // Not within a character.
        while (length < text.length && (text[length] & 0xc0) == 0x80) {
            length--;
        }
        if (out.remaining() >= 2 + length) {
            out.put(index).put((byte) length).put(text, 0, length);
        }
    }
}
