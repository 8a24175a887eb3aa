// SPDX-License-Identifier: Apache-2.0
package otelctx;

import io.opentelemetry.sdk.trace.ReadableSpan;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.function.BiConsumer;

/**
 * Is called when an attribute or the name of a span changes, which the SDK tells nobody: defines
 * the SDK's class of spans, with such calls in it, before the SDK loads it.
 *
 * <p>This fails if the class is loaded already or in a named module; then changes are shown when
 * the thread next enters or leaves a scope.
 */
public final class SdkSpanHook {
    private static final String SPAN = "io/opentelemetry/sdk/trace/SdkSpan.class";

    /** Makes classes; made by Library, because it needs ASM. */
    public interface Patch {
        /** A class in the SDK's package, with a public static field `hook`. */
        byte[] hook();

        /** That class of spans, which calls the hook. */
        byte[] patched(byte[] span);
    }

    private SdkSpanHook() {}

    static void install(BiConsumer<Object, Object> hook) {
        try (InputStream span =
                ReadableSpan.class.getClassLoader().getResourceAsStream(SPAN)) {
            MethodHandles.Lookup sdk =
                    MethodHandles.privateLookupIn(ReadableSpan.class, MethodHandles.lookup());
            Patch patch = Library.make(Patch.class, "otelctx.SdkSpanPatch");
            byte[] patched = patch.patched(span.readAllBytes());

            sdk.defineClass(patch.hook()).getField("hook").set(null, hook);
            sdk.defineClass(patched);
        } catch (Exception | LinkageError e) {
            // As the comment above says.
        }
    }
}
