/* SPDX-License-Identifier: Apache-2.0 */

/* The shim and floor A, for Java: called through JNI, as the peer is. */

#include "tests/bench/process_floor.h"

#include <jni.h>

#include "shim/otelctx.h"

void floor_set(void *record);
void floor_clear(void);

JNIEXPORT void JNICALL Java_Peer_floorSet(JNIEnv *env, jclass peer)
{
    static struct otelctx_record record;

    (void)env;
    (void)peer;
    floor_set(&record);
}

JNIEXPORT void JNICALL Java_Peer_floorClear(JNIEnv *env, jclass peer)
{
    (void)env;
    (void)peer;
    floor_clear();
}

static void put_big_endian(uint8_t *to, jlong value)
{
    const uint64_t bytes = __builtin_bswap64((uint64_t)value);

    memcpy(to, &bytes, sizeof(bytes));
}

JNIEXPORT jint JNICALL Java_Peer_attach(JNIEnv *env, jclass peer, jlong high,
                                        jlong low, jlong span, jint flags)
{
    uint8_t trace_id[16], span_id[8];

    (void)env;
    (void)peer;
    put_big_endian(trace_id, high);
    put_big_endian(trace_id + 8, low);
    put_big_endian(span_id, span);
    return otelctx_attach(trace_id, span_id, (uint8_t)flags);
}

/* The bytes of a value are copied twice, as the peer's are. */
JNIEXPORT jint JNICALL Java_Peer_attr(JNIEnv *env, jclass peer, jint key,
                                      jbyteArray value)
{
    jbyte bytes[255];
    const jsize size = (*env)->GetArrayLength(env, value);

    (void)peer;
    if (size > (jsize)sizeof(bytes))
        return -EINVAL;
    (*env)->GetByteArrayRegion(env, value, 0, size, bytes);
    return otelctx_attr((uint8_t)key, (const char *)bytes, (size_t)size);
}

JNIEXPORT jint JNICALL Java_Peer_detach(JNIEnv *env, jclass peer)
{
    (void)env;
    (void)peer;
    return otelctx_detach();
}

/* Publish with this service.version. */
JNIEXPORT jint JNICALL Java_Peer_publish(JNIEnv *env, jclass peer,
                                         jstring version)
{
    char bytes[256] = {0};
    int result;

    (void)peer;
    if ((*env)->GetStringUTFLength(env, version) >= (jsize)sizeof(bytes))
        return -EINVAL;
    (*env)->GetStringUTFRegion(env, version, 0,
                               (*env)->GetStringLength(env, version), bytes);
    result = otelctx_process_set("service.version", bytes);
    return result ? result : otelctx_process_publish();
}

JNIEXPORT void JNICALL Java_Peer_floorPublish(JNIEnv *env, jclass peer)
{
    (void)env;
    (void)peer;
    header = publish_bare();
}

JNIEXPORT void JNICALL Java_Peer_floorUpdate(JNIEnv *env, jclass peer,
                                             jint times)
{
    (void)env;
    (void)peer;
    (void)floor_update((unsigned)times);
}
