// SPDX-License-Identifier: Apache-2.0
package otelctx;

import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;

/** Before Java 22. */
public final class JnaCalls implements Calls {
    /** Throws UnsatisfiedLinkError where JNA cannot unpack and load its own library. */
    private final NativeLibrary process = NativeLibrary.getProcess();

    @Override
    public long find(String name) {
        try {
            return Pointer.nativeValue(process.getFunction(name));
        } catch (UnsatisfiedLinkError e) {
            return 0;
        }
    }

    @Override
    public long call(long function, long first, long second, long third) {
        return Function.getFunction(new Pointer(function))
                .invokeLong(new Object[] {first, second, third});
    }

    @Override
    public long address(ByteBuffer direct) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
    }

    @Override
    public ByteBuffer memory(long address, int size) {
        return new Pointer(address).getByteBuffer(0, size);
    }
}
