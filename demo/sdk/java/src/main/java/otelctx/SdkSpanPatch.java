// SPDX-License-Identifier: Apache-2.0
package otelctx;

import static org.objectweb.asm.Opcodes.ACC_PUBLIC;
import static org.objectweb.asm.Opcodes.ACC_STATIC;
import static org.objectweb.asm.Opcodes.ACC_SYNTHETIC;
import static org.objectweb.asm.Opcodes.ACC_VOLATILE;
import static org.objectweb.asm.Opcodes.ALOAD;
import static org.objectweb.asm.Opcodes.ARETURN;
import static org.objectweb.asm.Opcodes.ASM9;
import static org.objectweb.asm.Opcodes.GETSTATIC;
import static org.objectweb.asm.Opcodes.INVOKEINTERFACE;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.RETURN;
import static org.objectweb.asm.Opcodes.V1_8;

import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;

/** See SdkSpanHook. */
public final class SdkSpanPatch implements SdkSpanHook.Patch {
    private static final String HOOK = "io/opentelemetry/sdk/trace/OtelctxHook";
    private static final String CONSUMER = "java/util/function/BiConsumer";
    private static final String TWO = "(Ljava/lang/Object;Ljava/lang/Object;)V";

    // The other setters call these: (AttributeKey, Object) and (String).
    private static final Set<String> SETTERS = Set.of("setAttribute/2", "updateName/1");

    @Override
    public byte[] hook() {
        ClassWriter out = new ClassWriter(ClassWriter.COMPUTE_MAXS);

        out.visit(V1_8, ACC_PUBLIC, HOOK, null, "java/lang/Object", null);
        out.visitField(
                ACC_PUBLIC | ACC_STATIC | ACC_VOLATILE, "hook", "L" + CONSUMER + ";", null, null);

        MethodVisitor code = out.visitMethod(ACC_STATIC, "changed", TWO, null, null);

        code.visitFieldInsn(GETSTATIC, HOOK, "hook", "L" + CONSUMER + ";");
        code.visitVarInsn(ALOAD, 0);
        code.visitVarInsn(ALOAD, 1);
        code.visitMethodInsn(INVOKEINTERFACE, CONSUMER, "accept", TWO, true);
        code.visitInsn(RETURN);
        code.visitMaxs(0, 0);
        return out.toByteArray();
    }

    @Override
    public byte[] patched(byte[] span) {
        ClassReader in = new ClassReader(span);
        ClassWriter out = new ClassWriter(in, ClassWriter.COMPUTE_MAXS);

        in.accept(
                new ClassVisitor(ASM9, out) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access,
                            String name,
                            String descriptor,
                            String signature,
                            String[] exceptions) {
                        MethodVisitor method =
                                super.visitMethod(
                                        access, name, descriptor, signature, exceptions);
                        int arguments = Type.getArgumentTypes(descriptor).length;
                        boolean isSetter =
                                (access & ACC_SYNTHETIC) == 0
                                        && SETTERS.contains(name + "/" + arguments);

                        return isSetter ? new Caller(method) : method;
                    }
                },
                0);
        return out.toByteArray();
    }

    /** Calls the hook before it returns, with the span and the first argument. */
    private static final class Caller extends MethodVisitor {
        Caller(MethodVisitor method) {
            super(ASM9, method);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == ARETURN) {
                super.visitVarInsn(ALOAD, 0);
                super.visitVarInsn(ALOAD, 1);
                super.visitMethodInsn(INVOKESTATIC, HOOK, "changed", TWO, false);
            }
            super.visitInsn(opcode);
        }
    }
}
