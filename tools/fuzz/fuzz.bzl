"""Fuzz targets: one test of all targets of a folder, and each with libFuzzer."""

def _table_impl(ctx):
    targets = ctx.attr.targets
    lines = ["#include \"tools/fuzz/target.h\"", ""]
    for name in targets:
        lines.append("extern \"C\" int Fuzz_%s(const uint8_t* data, size_t size);" % name)
    lines += ["", "namespace taas {", ""]
    for name in targets:
        lines.append("std::vector<std::string> FuzzSeeds_%s();" % name)
    lines += ["", "const char* const kFuzzFolder = \"%s\";" % ctx.label.package, ""]
    lines += ["std::span<const FuzzTarget> FuzzTargets() {", "  static const FuzzTarget kAll[] = {"]
    for name in targets:
        lines.append("      {\"%s\", Fuzz_%s, FuzzSeeds_%s}," % (name, name, name))
    lines += ["  };", "  return kAll;", "}", "", "}  // namespace taas", ""]
    ctx.actions.write(ctx.outputs.out, "\n".join(lines))

_table = rule(
    implementation = _table_impl,
    attrs = {
        "out": attr.output(mandatory = True),
        "targets": attr.string_list(mandatory = True),
    },
)

def fuzz_targets(name, targets):
    """NAME is the test; `targets` are files (X_fuzz.cc) and what they depend on.

    X_fuzz_libfuzzer is what `make fuzz` runs.
    """
    names = sorted([source[:-len(".cc")] for source in targets])
    for target in names:
        source = target + ".cc"
        native.cc_library(
            name = target,
            testonly = True,
            srcs = [source],
            local_defines = [
                "LLVMFuzzerTestOneInput=Fuzz_" + target,
                "FuzzSeeds=FuzzSeeds_" + target,
            ],
            visibility = ["//visibility:private"],
            deps = targets[source] + ["//tools/fuzz:target"],
        )
        native.cc_binary(
            name = target + "_libfuzzer",
            testonly = True,
            srcs = [source],
            linkopts = ["-fsanitize=fuzzer"],
            tags = [
                "libfuzzer",
                "manual",
            ],
            visibility = ["//visibility:private"],
            deps = targets[source] + [
                "//tools/fuzz:target",
                "//tools/fuzz:write_seeds",
            ],
        )
    _table(
        name = name + "_table",
        testonly = True,
        out = name + "_table.cc",
        targets = names,
        visibility = ["//visibility:private"],
    )
    native.cc_test(
        name = name,
        size = "medium",
        srcs = [name + "_table.cc"],
        data = native.glob(["testdata/fuzz/**"]),
        visibility = ["//visibility:private"],
        deps = [":" + target for target in names] + [
            "//tools/fuzz:fuzz_main",
            "//tools/fuzz:target",
        ],
    )
