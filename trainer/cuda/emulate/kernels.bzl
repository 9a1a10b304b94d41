"""CUDA kernels as the host's compiler compiles them, for tests that run them on the processor."""

def emulated_kernels(name, srcs, hdrs, deps = [], visibility = None):
    """A library of kernels (.cu) whose loads and stores the emulator sees."""
    native.cc_library(
        name = name,
        testonly = True,
        visibility = visibility,
        srcs = srcs,
        hdrs = hdrs,
        copts = [
            "-x",
            "c++",
            "-O1",
            "-include",
            "trainer/cuda/emulate/cuda_on_host.h",
            # Its calls are the emulator's (watch.cc); no library of a sanitizer is linked.
            "-fno-sanitize=all",
            "-fsanitize=thread",
        ],
        deps = deps + ["//trainer/cuda/emulate:emulator"],
    )
