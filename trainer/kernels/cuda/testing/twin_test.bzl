"""Tests of kernels for GPUs against their twins on the processor (twin.h)."""

def twin_test(name, srcs, deps = [], size = "small"):
    """The test, on a GPU that is emulated, and NAME_cases: its cases, for the program `parity`."""
    native.cc_library(
        name = name + "_cases",
        testonly = True,
        srcs = srcs,
        deps = deps + [
            "//third_party:gtest",
            "//trainer/kernels/cuda/testing:twin_sides",
        ],
        alwayslink = True,
    )
    native.cc_test(
        name = name,
        size = size,
        deps = [
            ":" + name + "_cases",
            "//third_party:gtest_main",
            "//trainer/kernels/cuda/testing:twin",
        ],
    )
