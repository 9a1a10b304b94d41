"""Precompiled headers."""

# What toolchain_config.bzl and .bazelrc give to every file of the default configuration. A
# difference that matters is an error when prelude_test.cc is compiled.
_FLAGS = [
    "-std=c++20",
    "-O2",
    "-fPIC",
    "-fstack-protector",
    "-fno-omit-frame-pointer",
    "-fno-canonical-system-headers",
    "-U_FORTIFY_SOURCE",
    "-DBOOST_ASIO_DISABLE_CO_AWAIT",
]

def precompiled_header(name, hdr, deps = []):
    """HDR.gch, made of `hdr` and of the headers `deps`, all of this package."""
    native.genrule(
        name = name,
        srcs = [hdr] + deps,
        outs = [hdr + ".gch"],
        cmd = "/usr/bin/g++ %s -x c++-header -iquote . $(location %s) -o $@" % (
            " ".join(_FLAGS),
            hdr,
        ),
        message = "Precompiling " + hdr,
    )
