"""Compile the kernel; without a C compiler the plugin is installed all the same, and says that it lacks it."""

import os
import sys

from setuptools import Extension, setup

# No fused multiply-add: numbers are to be rounded as numpy rounds them. FLAGS adds others, such as a sanitizer's.
FLAGS = [] if sys.platform == "win32" else ["-O3", "-std=c11", "-Wall", "-Wextra", "-ffp-contract=off"]
FLAGS += os.environ.get("RANKGAUGE_FAST_FLAGS", "").split()

KERNEL = Extension(
    "rankgauge_fast._kernel",
    [
        f"src/rankgauge_fast/{name}.c"
        for name in ("kernel", "texts", "words", "index", "shared", "cover", "alignment", "facts", "few")
    ],
    extra_compile_args=FLAGS,
    extra_link_args=[flag for flag in FLAGS if flag.startswith("-fsanitize")],
    depends=[f"src/rankgauge_fast/{name}.h" for name in ("bits", "words", "cover")],
    py_limited_api=True,
    optional=True,
)

setup(ext_modules=[KERNEL])
