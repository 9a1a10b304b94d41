"""NVIDIA's compiler of kernels as a repository of Bazel.

The folder comes from TAAS_CUDA, which tools/setup/setup.sh writes into .bazelrc.packages. Its files
are inputs of the actions that use them.
"""

_BUILD = """
# nvcc and everything that it starts and includes; $(location :bin/nvcc) is its path.
exports_files(["bin/nvcc"], visibility = ["//visibility:public"])

filegroup(
    name = "compiler",
    srcs = glob(["bin/**", "include/**", "nvvm/**"]),
    visibility = ["//visibility:public"],
)
"""

def _cuda_toolkit_impl(ctx):
    folder = ctx.os.environ.get("TAAS_CUDA", "")
    if not folder or not ctx.path(folder + "/bin/nvcc").exists:
        fail("NVIDIA's compiler of kernels is not at TAAS_CUDA=%s: `make setup` installs it" %
             repr(folder))
    for part in ["bin", "include", "nvvm"]:
        ctx.symlink(folder + "/" + part, part)
    ctx.file("BUILD", _BUILD)

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["TAAS_CUDA"],
)
