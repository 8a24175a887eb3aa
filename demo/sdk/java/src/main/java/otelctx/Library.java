// SPDX-License-Identifier: Apache-2.0
package otelctx;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Loads JNA and ASM from this jar's folder otelctx/library, and the classes that use them. Nobody
 * else sees these copies, so that a program and the agent have their own.
 */
final class Library extends ClassLoader {
    private static final String FOLDER = "otelctx/library/";
    private static final Set<String> USERS = Set.of("otelctx.JnaCalls", "otelctx.SdkSpanPatch");

    /** The properties of JNA, but the folder that it needs. */
    private static final Pattern PROPERTIES = Pattern.compile("(?<!sun[.])jna[.](?!tmpdir)");

    private Library() {
        super(Library.class.getClassLoader());
    }

    /** Returns a new object of a class that uses JNA or ASM. */
    static <T> T make(Class<T> type, String name) throws ReflectiveOperationException {
        Class<?> user = new Library().loadClass(name);

        return type.cast(user.getDeclaredConstructor().newInstance());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = findLoadedClass(name);
            String path = name.replace('.', '/') + ".class";

            if (found != null) {
                return found;
            }
            if (USERS.contains(name.replaceFirst("[$].*", ""))) { // and what is nested in them
                return define(name, path);
            }
            if (name.startsWith("com.sun.jna.") || name.startsWith("org.objectweb.asm.")) {
                return define(name, FOLDER + path);
            }
            return super.loadClass(name, resolve);
        }
    }

    private Class<?> define(String name, String path) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(path)) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = in.readAllBytes();

            if (name.startsWith("com.sun.jna.")) {
                bytes = renameProperties(bytes);
            }
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /**
     * The program's properties say where its own JNA has its native library. This copy must not
     * load that: the JVM loads a library for one loader only.
     */
    private static byte[] renameProperties(byte[] jna) {
        String text = new String(jna, StandardCharsets.ISO_8859_1);

        return PROPERTIES.matcher(text).replaceAll("JNA.").getBytes(StandardCharsets.ISO_8859_1);
    }

    /** JNA finds its native library here. */
    @Override
    public URL getResource(String name) {
        return getParent().getResource(FOLDER + name);
    }
}
