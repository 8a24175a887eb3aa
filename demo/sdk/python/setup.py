# SPDX-License-Identifier: Apache-2.0
from setuptools import Extension, setup

# Without a compiler, pip installs the package all the same: then ctypes makes
# the calls.
setup(
    ext_modules=[
        Extension(
            "otelctx_opentelemetry._native",
            ["otelctx_opentelemetry/_native.c"],
            libraries=["dl"],
            optional=True,
        )
    ]
)
