"""CUDA kernels as the host's compiler compiles them, for tests that run them on the processor."""

def emulated_kernels(name, srcs, hdrs, deps = [], watched = True, visibility = None):
    """A library of kernels (.cu) for the emulator, which sees loads and stores if `watched`."""
    native.cc_library(
        name = name,
        testonly = True,
        visibility = visibility,
        srcs = srcs,
        hdrs = hdrs,
        copts = [
            "-x",
            "c++",
            "-O1" if watched else "-O2",
            "-include",
            "trainer/cuda/emulate/cuda_on_host.h",
        ] + ([
            # Its calls are the emulator's (watch.cc); no library of a sanitizer is linked.
            "-fno-sanitize=all",
            "-fsanitize=thread",
        ] if watched else []),
        deps = deps + ["//trainer/cuda/emulate:emulator"],
    )
