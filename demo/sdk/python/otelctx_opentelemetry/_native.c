/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Shows the span that is current in the SDK's context on the calling thread.
 * _fallback.py is the same in Python.
 *
 * show_current() has no state of its own: it reads the context variable in
 * which the SDK keeps its context, and attaches what is there. It is called
 * wherever that value may have become another one: after the SDK's attach and
 * detach, when the thread enters or leaves a context, and when greenlets
 * switch.
 *
 * Nothing here raises an exception, and one that is under way is kept.
 */

#define _GNU_SOURCE /* RTLD_DEFAULT */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if PY_VERSION_HEX < 0x030c0000
#define PyType_GetDict(type) Py_NewRef((type)->tp_dict)
#endif
#if PY_VERSION_HEX < 0x030a0000
static PyObject *Py_NewRef(PyObject *object)
{
    Py_INCREF(object);
    return object;
}
#endif

enum {
    KEYS_MAX = 256 /* of the shim */
};

/* The shim's functions, or NULL. */
static struct {
    int (*abi)(void);
    int (*key)(const char *name);
    int (*process_set)(const char *key, const char *value);
    int (*process_publish)(void);
    int (*attach)(const uint8_t *trace_id, const uint8_t *span_id,
                  uint8_t flags);
    int (*attr)(uint8_t key, const char *value, size_t len);
    int (*attr_unset)(uint8_t key);
    int (*detach)(void);
} shim;

static const struct {
    const char *name;
    void *function;
} shim_functions[] = {
    {"otelctx_abi", &shim.abi},
    {"otelctx_key", &shim.key},
    {"otelctx_process_set", &shim.process_set},
    {"otelctx_process_publish", &shim.process_publish},
    {"otelctx_attach", &shim.attach},
    {"otelctx_attr", &shim.attr},
    {"otelctx_attr_unset", &shim.attr_unset},
    {"otelctx_detach", &shim.detach},
};

/* The attributes to show. */
static struct {
    PyObject *name;
    uint8_t index;
} keys[KEYS_MAX];
static unsigned key_count;

static PyObject *variable;        /* the SDK keeps its Context in it */
static PyObject *span_key;        /* of a Context; NULL: not known yet */
static PyObject *inherited;       /* span in which this process was forked */
static PyTypeObject *sdk_span;    /* NULL: the SDK is not loaded yet */
static PyObject *plain_span;      /* NonRecordingSpan; NULL: not known yet */
static PyObject *trace_greenlets; /* NULL: greenlet is not loaded yet */

static PyObject *name_get_span_context, *name_context, *name_end_time,
    *name_attributes, *name_dict, *sixty_four;

static _Thread_local bool is_shown;
static _Thread_local bool is_outside; /* see call_outside() */
static _Thread_local bool are_greenlets_traced;

/* ---- The ids ------------------------------------------------------------ */

struct ids {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t flags;
};

static bool store_big_endian(uint8_t *out, PyObject *number)
{
    const uint64_t value = PyLong_AsUnsignedLongLongMask(number);
    int i;

    if (value == UINT64_MAX && PyErr_Occurred())
        return false;
    for (i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (56 - 8 * i));
    return true;
}

static bool store_trace_id(uint8_t out[16], PyObject *number)
{
    PyObject *upper = PyNumber_Rshift(number, sixty_four);
    const bool ok = upper && store_big_endian(out, upper) &&
                    store_big_endian(out + 8, number);

    Py_XDECREF(upper);
    return ok;
}

/* SpanContext is a tuple: trace id, span id, is_remote, flags, state, valid. */
static bool ids_of_tuple(struct ids *ids, PyObject *context)
{
    long flags;

    if (!PyTuple_Check(context) || PyTuple_GET_SIZE(context) < 6 ||
        PyTuple_GET_ITEM(context, 5) != Py_True)
        return false;
    flags = PyLong_AsLong(PyTuple_GET_ITEM(context, 3));
    ids->flags = (uint8_t)flags;
    return !(flags == -1 && PyErr_Occurred()) &&
           store_trace_id(ids->trace_id, PyTuple_GET_ITEM(context, 0)) &&
           store_big_endian(ids->span_id, PyTuple_GET_ITEM(context, 1));
}

/* No code in Python runs for the spans of the SDK and the API: a signal handler
 * could raise an exception in it, which the program would never get. */
static bool ids_of_span(struct ids *ids, PyObject *span)
{
    const bool is_known = (sdk_span && PyObject_TypeCheck(span, sdk_span)) ||
                          (PyObject *)Py_TYPE(span) == plain_span;
    PyObject *context =
        is_known
            ? PyObject_GetAttr(span, name_context)
            : PyObject_CallMethodObjArgs(span, name_get_span_context, NULL);
    const bool ok = context && ids_of_tuple(ids, context);

    Py_XDECREF(context);
    return ok;
}

/* ---- The attributes ----------------------------------------------------- */

/* A text for a scalar, else NULL. */
static PyObject *text_of(PyObject *value)
{
    if (PyUnicode_Check(value))
        return Py_NewRef(value);
    if (PyBool_Check(value))
        return PyUnicode_FromString(value == Py_True ? "true" : "false");
    if (PyLong_Check(value)) /* also of an enumeration */
        return PyLong_Type.tp_repr(value);
    return PyFloat_Check(value) ? PyFloat_Type.tp_repr(value) : NULL;
}

struct texts {
    PyObject *text[KEYS_MAX];
};

/* The attributes of an SDK span are behind a lock and a method in Python, which
 * would take longer than all the rest. */
static PyObject *dict_of_attributes(PyObject *span)
{
    PyObject *attributes = PyObject_GetAttr(span, name_attributes);
    PyObject *dict =
        attributes ? PyObject_GetAttr(attributes, name_dict) : NULL;

    Py_XDECREF(attributes);
    if (dict && !PyDict_Check(dict))
        Py_CLEAR(dict);
    return dict;
}

static void collect(struct texts *texts, PyObject *span)
{
    PyObject *dict = NULL, *value;
    unsigned i;

    if (sdk_span && PyObject_TypeCheck(span, sdk_span))
        dict = dict_of_attributes(span);
    for (i = 0; i < key_count; i++) {
        value = dict ? PyDict_GetItemWithError(dict, keys[i].name) : NULL;
        texts->text[i] = value ? text_of(value) : NULL;
    }
    Py_XDECREF(dict);
    PyErr_Clear();
}

/* An attribute without a text, or without room, is no longer shown. */
static void show_and_drop(struct texts *texts, bool show)
{
    const char *utf8;
    Py_ssize_t size;
    unsigned i;

    for (i = 0; i < key_count; i++) {
        utf8 = show && texts->text[i]
                   ? PyUnicode_AsUTF8AndSize(texts->text[i], &size)
                   : NULL;
        if (show && (!utf8 || shim.attr(keys[i].index, utf8, (size_t)size) < 0))
            (void)shim.attr_unset(keys[i].index);
        Py_XDECREF(texts->text[i]);
    }
    PyErr_Clear();
}

/* ---- The current span --------------------------------------------------- */

static void hide(void)
{
    if (!is_shown)
        return;
    is_shown = false;
    (void)shim.detach();
}

static bool has_ended(PyObject *span)
{
    PyObject *end;

    if (!sdk_span || !PyObject_TypeCheck(span, sdk_span))
        return false;
    end = PyObject_GetAttr(span, name_end_time);
    if (!end)
        PyErr_Clear();
    Py_XDECREF(end);
    return end && end != Py_None;
}

static void find(PyObject **found, const char *module_name, const char *name)
{
    PyObject *text = PyUnicode_FromString(module_name);
    PyObject *module = text ? PyImport_GetModule(text) : NULL;

    if (module)
        *found = PyObject_GetAttrString(module, name);
    Py_XDECREF(module);
    Py_XDECREF(text);
    PyErr_Clear();
}

/* Until trace.propagation is loaded, no context can have a span. */
static bool find_span_key(void)
{
    if (!plain_span)
        find(&plain_span, "opentelemetry.trace.span", "NonRecordingSpan");
    if (!span_key)
        find(&span_key, "opentelemetry.trace.propagation", "_SPAN_KEY");
    return span_key;
}

/* The span in the SDK's Context on this thread, a new reference; or NULL. */
static PyObject *current_span(void)
{
    PyObject *context = NULL, *span = NULL;

    if (PyContextVar_Get(variable, NULL, &context) == 0 && context) {
        if (PyDict_Check(context) && PyDict_GET_SIZE(context) > 0 &&
            find_span_key())
            span = PyDict_GetItemWithError(context, span_key);
        if (span == inherited)
            span = NULL;
        Py_XINCREF(span);
        Py_DECREF(context);
    }
    return span;
}

static void trace_greenlets_here(void)
{
    PyObject *result;

    are_greenlets_traced = true;
    result = PyObject_CallObject(trace_greenlets, NULL);
    Py_XDECREF(result);
    PyErr_Clear();
}

static void show(PyObject *span)
{
    struct texts texts;
    struct ids ids;
    bool attached;

    if (has_ended(span) || !ids_of_span(&ids, span)) {
        hide();
        return;
    }
    if (trace_greenlets && !are_greenlets_traced)
        trace_greenlets_here();
    if (key_count > 0)
        collect(&texts, span);
    attached = shim.attach(ids.trace_id, ids.span_id, ids.flags) == 0;
    is_shown |= attached;
    if (key_count > 0)
        show_and_drop(&texts, attached);
}

static void show_current_clean(void)
{
    PyObject *span = is_outside ? NULL : current_span();

    if (!span) {
        hide();
    } else {
        show(span);
        Py_DECREF(span);
    }
    PyErr_Clear();
}

static void show_current(void)
{
    PyObject *type, *value, *traceback;

    if (!PyErr_Occurred()) {
        show_current_clean();
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    show_current_clean();
    PyErr_Restore(type, value, traceback);
}

/* ---- Where the context changes ------------------------------------------ */

#if PY_VERSION_HEX >= 0x030e0000
static int watch(PyContextEvent event, PyObject *Py_UNUSED(context))
{
    if (event == Py_CONTEXT_SWITCHED)
        show_current();
    return 0;
}

static bool watch_contexts(void)
{
    return PyContext_AddWatcher(watch) >= 0;
}
#elif PY_VERSION_HEX >= 0x030d0000 && defined(Py_DEBUG)
static bool watch_contexts(void)
{
    return false; /* PyType_Modified would abort. */
}
#else
/* Context.run of CPython, which shows the span when it has entered and left. */
static PyObject *context_run(PyObject *self, PyObject *const *args,
                             Py_ssize_t count, PyObject *names)
{
    const bool was_outside = is_outside;
    PyObject *result;

    if (count < 1) {
        PyErr_SetString(PyExc_TypeError,
                        "run() missing 1 required positional argument");
        return NULL;
    }
    if (PyContext_Enter(self))
        return NULL;
    is_outside = false;
    show_current();
    result = PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), names);
    if (PyContext_Exit(self))
        Py_CLEAR(result);
    is_outside = was_outside;
    show_current();
    return result;
}

/* Before 3.14 nobody is told when a thread enters a context. But all Python
 * code and the event loops enter one by Context.run, so that this method is
 * replaced in the type's dictionary. */
static bool watch_contexts(void)
{
    static PyMethodDef method = {"run",
                                 (PyCFunction)(void (*)(void))context_run,
                                 METH_FASTCALL | METH_KEYWORDS, NULL};
    PyObject *dict = PyType_GetDict(&PyContext_Type);
    PyObject *run = PyDescr_NewMethod(&PyContext_Type, &method);
    const bool ok =
        dict && run && PyDict_SetItemString(dict, method.ml_name, run) == 0;

    if (ok)
        PyType_Modified(&PyContext_Type);
    Py_XDECREF(run);
    Py_XDECREF(dict);
    return ok;
}
#endif

/* ---- What the package calls --------------------------------------------- */

/* 1, or a negative number: there is no shim, or it is disabled; or this is not
 * the main interpreter, and the variables here belong to that one. */
static PyObject *do_abi(PyObject *self, PyObject *args)
{
    size_t i;

    (void)self;
    (void)args;
    if (PyInterpreterState_Get() != PyInterpreterState_Main())
        return PyLong_FromLong(-1);
    for (i = 0; i < sizeof(shim_functions) / sizeof(*shim_functions); i++) {
        void *found = dlsym(RTLD_DEFAULT, shim_functions[i].name);

        if (!found)
            return PyLong_FromLong(-1);
        memcpy(shim_functions[i].function, &found, sizeof(found));
    }
    return PyLong_FromLong(shim.abi());
}

/* add_key(name): 0 or a negative number. */
static PyObject *do_add_key(PyObject *self, PyObject *name)
{
    const char *utf8 = PyUnicode_AsUTF8(name);
    int index;

    (void)self;
    if (!utf8)
        return NULL;
    index = key_count < KEYS_MAX ? shim.key(utf8) : -1;
    if (index < 0)
        return PyLong_FromLong(index);
    keys[key_count].name = Py_NewRef(name);
    keys[key_count++].index = (uint8_t)index;
    return PyLong_FromLong(0);
}

static PyObject *do_process_set(PyObject *self, PyObject *args)
{
    const char *key, *value;

    (void)self;
    if (!PyArg_ParseTuple(args, "ss", &key, &value))
        return NULL;
    return PyLong_FromLong(shim.process_set(key, value));
}

static PyObject *do_process_publish(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    return PyLong_FromLong(shim.process_publish());
}

/* start(variable): from now on, threads show their spans. True if the
 * interpreter tells whenever a thread enters or leaves a context. */
static PyObject *do_start(PyObject *self, PyObject *context_variable)
{
    (void)self;
    if (!PyContextVar_CheckExact(context_variable)) {
        PyErr_SetString(PyExc_TypeError, "a ContextVar is needed");
        return NULL;
    }
    Py_XSETREF(variable, Py_NewRef(context_variable));
    if (!watch_contexts()) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "contexts cannot be watched");
        return NULL;
    }
    return PyBool_FromLong(PY_VERSION_HEX >= 0x030e0000);
}

/* Arguments are ignored: it serves as the trace function of greenlet, too. */
static PyObject *do_show_current(PyObject *self, PyObject *const *args,
                                 Py_ssize_t count)
{
    (void)self;
    (void)args;
    (void)count;
    show_current();
    Py_RETURN_NONE;
}

static PyObject *do_hide(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    hide();
    Py_RETURN_NONE;
}

/* call_outside(function, *args): calls an event loop that enters and leaves
 * contexts unnoticed. Nothing is shown but in what it calls by within(). */
static PyObject *do_call_outside(PyObject *self, PyObject *const *args,
                                 Py_ssize_t count)
{
    const bool was_outside = is_outside;
    PyObject *result;

    (void)self;
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "a function is needed");
        return NULL;
    }
    hide();
    is_outside = true;
    result = PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), NULL);
    is_outside = was_outside;
    show_current();
    return result;
}

/* A function that such a loop calls in a context. It looks like the function,
 * for loops name it in messages. */
struct within {
    PyObject_HEAD PyObject *function;
};

static PyObject *within_call(PyObject *self, PyObject *args, PyObject *names)
{
    const bool was_outside = is_outside;
    PyObject *result;

    is_outside = false;
    show_current();
    result = PyObject_Call(((struct within *)self)->function, args, names);
    is_outside = was_outside;
    hide();
    return result;
}

static PyObject *within_attribute(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(((struct within *)self)->function, name);
}

static PyObject *within_repr(PyObject *self)
{
    return PyObject_Repr(((struct within *)self)->function);
}

static int within_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct within *)self)->function);
    return 0;
}

static void within_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_DECREF(((struct within *)self)->function);
    PyObject_GC_Del(self);
}

static PyTypeObject within_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name =
        "otelctx_opentelemetry._native.Within",
    .tp_basicsize = sizeof(struct within),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_call = within_call,
    .tp_getattro = within_attribute,
    .tp_repr = within_repr,
    .tp_traverse = within_traverse,
    .tp_dealloc = within_free,
};

/* within(function) */
static PyObject *do_within(PyObject *self, PyObject *function)
{
    struct within *within;

    (void)self;
    if (!PyCallable_Check(function))
        return Py_NewRef(function); /* the loop complains */
    within = PyObject_GC_New(struct within, &within_type);
    if (!within)
        return NULL;
    within->function = Py_NewRef(function);
    PyObject_GC_Track(within);
    return (PyObject *)within;
}

static PyObject *do_set_sdk_span(PyObject *self, PyObject *type)
{
    (void)self;
    if (!PyType_Check(type)) {
        PyErr_SetString(PyExc_TypeError, "a type is needed");
        return NULL;
    }
    Py_XSETREF(sdk_span, (PyTypeObject *)Py_NewRef(type));
    Py_RETURN_NONE;
}

/* trace_greenlets(function): called by each thread that shows a span. */
static PyObject *do_trace_greenlets(PyObject *self, PyObject *function)
{
    (void)self;
    Py_XSETREF(trace_greenlets, Py_NewRef(function));
    if (is_shown)
        trace_greenlets_here();
    Py_RETURN_NONE;
}

/* span_ends(span) */
static PyObject *do_span_ends(PyObject *self, PyObject *span)
{
    PyObject *current = current_span();

    (void)self;
    if (current == span)
        hide();
    Py_XDECREF(current);
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* span_changed(span): after attributes of the span were set. */
static PyObject *do_span_changed(PyObject *self, PyObject *span)
{
    PyObject *current = is_shown ? current_span() : NULL;
    struct texts texts;

    (void)self;
    if (current && current == span) {
        collect(&texts, span);
        show_and_drop(&texts, true);
    }
    Py_XDECREF(current);
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* A forked process shows nothing until it attaches a span of its own. */
static PyObject *do_forked(PyObject *self, PyObject *args)
{
    PyObject *span;

    (void)self;
    (void)args;
    hide();
    span = current_span();
    if (span)
        Py_XSETREF(inherited, span);
    PyErr_Clear();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"abi", do_abi, METH_NOARGS, NULL},
    {"add_key", do_add_key, METH_O, NULL},
    {"process_set", do_process_set, METH_VARARGS, NULL},
    {"process_publish", do_process_publish, METH_NOARGS, NULL},
    {"start", do_start, METH_O, NULL},
    {"show_current", (PyCFunction)(void (*)(void))do_show_current,
     METH_FASTCALL, NULL},
    {"hide", do_hide, METH_NOARGS, NULL},
    {"call_outside", (PyCFunction)(void (*)(void))do_call_outside,
     METH_FASTCALL, NULL},
    {"within", do_within, METH_O, NULL},
    {"set_sdk_span", do_set_sdk_span, METH_O, NULL},
    {"trace_greenlets", do_trace_greenlets, METH_O, NULL},
    {"span_ends", do_span_ends, METH_O, NULL},
    {"span_changed", do_span_changed, METH_O, NULL},
    {"forked", do_forked, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__native(void)
{
    name_get_span_context = PyUnicode_InternFromString("get_span_context");
    name_context = PyUnicode_InternFromString("_context");
    name_end_time = PyUnicode_InternFromString("_end_time");
    name_attributes = PyUnicode_InternFromString("_attributes");
    name_dict = PyUnicode_InternFromString("_dict");
    sixty_four = PyLong_FromLong(64);
    if (!name_get_span_context || !name_context || !name_end_time ||
        !name_attributes || !name_dict || !sixty_four ||
        PyType_Ready(&within_type) < 0)
        return NULL;
    return PyModule_Create(&module);
}
