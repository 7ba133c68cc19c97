#include <Python.h>

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", NULL, -1, NULL};

PyMODINIT_FUNC PyInit__core(void) {
  return PyModule_Create(&definition);
}
