"""CUDA kernels, compiled by nvcc, in a C++ library."""

def _table_impl(ctx):
    stems = ctx.attr.stems
    lines = [
        "#include \"trainer/kernels/cuda/images.h\"",
        "",
        "#include <cstdint>",
        "",
        "namespace taas::cuda {",
        "namespace {",
        "",
    ]
    for stem in stems:
        lines += [
            "alignas(16) constexpr uint64_t k_%s[] = {" % stem,
            "#include \"%s/%s.fatbin.inc\"" % (ctx.label.package, stem),
            "};",
        ]
    lines += ["", "}  // namespace", "", "std::span<const KernelImage> KernelImages() {"]
    lines += ["  static const KernelImage kAll[] = {"]
    for stem in stems:
        lines.append("      {\"%s.cu\", std::as_bytes(std::span(k_%s))}," % (stem, stem))
    lines += ["  };", "  return kAll;", "}", "", "}  // namespace taas::cuda", ""]
    ctx.actions.write(ctx.outputs.out, "\n".join(lines))

_table = rule(
    implementation = _table_impl,
    attrs = {
        "out": attr.output(mandatory = True),
        "stems": attr.string_list(mandatory = True),
    },
)

def cuda_images(name, srcs, hdrs, resources, visibility, deps):
    """NAME is images.h with an image (STEM.fatbin) of each of `srcs` (STEM.cu), compiled alone.

    `hdrs` are the headers that the kernels include, of this tree. `resources` becomes what ptxas
    says of all kernels, as in resources.txt.
    """
    stems = sorted([source[:-len(".cu")] for source in srcs])
    for stem in stems:
        native.genrule(
            name = stem + "_fatbin",
            srcs = [stem + ".cu"] + hdrs,
            outs = [stem + end for end in [".fatbin", ".fatbin.inc", ".resources"]],
            cmd = "$(location compile_kernels.py) $(location @cuda_toolkit//:bin/nvcc) " +
                  "$(location %s.cu) $(OUTS)" % stem,
            message = "Compiling kernels of %s.cu" % stem,
            tools = [
                "compile_kernels.py",
                "@cuda_toolkit//:bin/nvcc",
                "@cuda_toolkit//:compiler",
            ],
            visibility = ["//visibility:private"],
        )
    native.genrule(
        name = resources,
        srcs = [stem + ".resources" for stem in stems],
        outs = [resources + ".built.txt"],
        cmd = "$(location compile_kernels.py) --table $(SRCS) > $@",
        tools = ["compile_kernels.py"],
        visibility = ["//visibility:private"],
    )
    _table(
        name = name + "_table",
        out = name + "_table.cc",
        stems = stems,
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = [name + "_table.cc"] + [stem + ".fatbin.inc" for stem in stems],
        hdrs = ["images.h"],
        visibility = visibility,
        deps = deps,
    )
