/* SPDX-License-Identifier: Apache-2.0 */

/* The shim and floor A, for Python: as a compiled module, as the peer is. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "shim/otelctx.h"

void floor_set(void *record);
void floor_clear(void);

static PyObject *set(PyObject *self, PyObject *none)
{
    static struct otelctx_record record;

    (void)self;
    (void)none;
    floor_set(&record);
    Py_RETURN_NONE;
}

static PyObject *clear(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    floor_clear();
    Py_RETURN_NONE;
}

static const uint8_t *bytes_of(PyObject *object, Py_ssize_t size)
{
    if (PyBytes_Check(object) && PyBytes_GET_SIZE(object) == size)
        return (const uint8_t *)PyBytes_AS_STRING(object);
    PyErr_SetString(PyExc_TypeError, "ids are bytes");
    return NULL;
}

/* attach(trace_id, span_id, flags) */
static PyObject *attach(PyObject *self, PyObject *const *words,
                        Py_ssize_t count)
{
    const uint8_t *trace_id, *span_id;
    long flags;

    (void)self;
    if (count != 3 || !(trace_id = bytes_of(words[0], 16)) ||
        !(span_id = bytes_of(words[1], 8)))
        return NULL;
    flags = PyLong_AsLong(words[2]);
    if (flags < 0)
        return NULL;
    if (otelctx_attach(trace_id, span_id, (uint8_t)flags))
        return PyErr_Format(PyExc_OSError, "otelctx_attach failed");
    Py_RETURN_NONE;
}

static PyObject *detach(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    if (otelctx_detach())
        return PyErr_Format(PyExc_OSError, "otelctx_detach failed");
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"floor_set", set, METH_NOARGS, NULL},
    {"floor_clear", clear, METH_NOARGS, NULL},
    {"attach", (PyCFunction)(void (*)(void))attach, METH_FASTCALL, NULL},
    {"detach", detach, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "bench_peers_native",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit_bench_peers_native(void);
PyMODINIT_FUNC PyInit_bench_peers_native(void)
{
    return PyModule_Create(&module);
}
