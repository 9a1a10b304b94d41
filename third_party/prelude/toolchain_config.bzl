"""The C++ toolchains: GCC of /usr with flags as Bazel's own and precompiled headers, and Clang."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
    "with_feature_set",
)

_TOOLS = ["ar", "cpp", "dwp", "gcc", "gcov", "ld", "nm", "objcopy", "objdump", "strip"]
_COMPILE = [
    ACTION_NAMES.assemble,
    ACTION_NAMES.c_compile,
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.cpp_header_parsing,
    ACTION_NAMES.linkstamp_compile,
    ACTION_NAMES.preprocess_assemble,
]
_LINK = [
    ACTION_NAMES.cpp_link_dynamic_library,
    ACTION_NAMES.cpp_link_executable,
    ACTION_NAMES.cpp_link_nodeps_dynamic_library,
]

def _flags(actions, flags, mode = None):
    return flag_set(
        actions = actions,
        flag_groups = [flag_group(flags = flags)],
        with_features = [with_feature_set(features = [mode])] if mode else [],
    )

def _impl(ctx):
    # `-include prelude/NAME.h` finds prelude/NAME.h.gch in one folder or prelude/NAME.h in the
    # next.
    package = ctx.label.package
    compiled = [file.path[:file.path.rindex(package)] for file in ctx.files.precompiled]
    parent = package[:package.rindex("/")]
    compile_flags = [
        "-U_FORTIFY_SOURCE",
        "-fstack-protector",
        "-fno-omit-frame-pointer",
        "-Wno-free-nonheap-object",
    ]
    for root in compiled[:1] + [""]:
        compile_flags += ["-iquote", root + parent]
    features = [
        feature(name = "supports_pic", enabled = True),
        feature(name = "supports_start_end_lib", enabled = True),
        feature(name = "dbg"),
        feature(name = "opt"),
        feature(
            name = "default_compile_flags",
            enabled = True,
            flag_sets = [
                _flags(_COMPILE, compile_flags),
                _flags(_COMPILE, ["-g"], mode = "dbg"),
                _flags(
                    _COMPILE,
                    [
                        "-g0",
                        "-O2",
                        "-D_FORTIFY_SOURCE=1",
                        "-DNDEBUG",
                        "-ffunction-sections",
                        "-fdata-sections",
                    ],
                    mode = "opt",
                ),
            ],
        ),
        feature(
            name = "default_link_flags",
            enabled = True,
            flag_sets = [
                _flags(_LINK, [
                    "-fuse-ld=gold",
                    "-Wl,-no-as-needed",
                    "-Wl,-z,relro,-z,now",
                ] + ([] if ctx.attr.clang else ["-pass-exit-codes"]) + [
                    "-lstdc++",
                    "-lm",
                ]),
                _flags(_LINK, ["-Wl,--gc-sections"], mode = "opt"),
            ],
        ),
        # The same text gives the same object, on every machine.
        feature(
            name = "unfiltered_compile_flags",
            enabled = True,
            flag_sets = [_flags(_COMPILE, ([] if ctx.attr.clang else [
                "-fno-canonical-system-headers",
            ]) + [
                "-Wno-builtin-macro-redefined",
                "-D__DATE__=\"redacted\"",
                "-D__TIMESTAMP__=\"redacted\"",
                "-D__TIME__=\"redacted\"",
            ])],
        ),
    ]
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        features = features,
        cxx_builtin_include_directories = ["/usr/include", "/usr/lib/gcc"] +
                                            (["/usr/lib/llvm-19"] if ctx.attr.clang else []),
        toolchain_identifier = "clang" if ctx.attr.clang else "gcc",
        host_system_name = "local",
        target_system_name = "local",
        target_cpu = "k8",
        target_libc = "local",
        compiler = "clang" if ctx.attr.clang else "gcc",
        abi_version = "local",
        abi_libc_version = "local",
        tool_paths = [
            tool_path(name = name, path = ctx.attr.clang if name == "gcc" and ctx.attr.clang else
                                       "/usr/bin/" + name)
            for name in _TOOLS
        ],
    )

toolchain_config = rule(
    implementation = _impl,
    attrs = {
        # The path of the compiler, if it is Clang.
        "clang": attr.string(),
        "precompiled": attr.label_list(allow_files = True, cfg = "exec"),
    },
    provides = [CcToolchainConfigInfo],
)
