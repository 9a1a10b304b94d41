"""C++ code from .proto files with Debian's protoc and gRPC plugin."""

def cc_proto(name, src, grpc = False, deps = [], visibility = None):
    """A cc_library of the messages (and, with grpc, the service stubs) of one .proto file.

    Includes name the .proto by its path from the top of the tree; generated headers do the same:
    #include "trainer/proto/chief.pb.h".
    """
    base = src[:-len(".proto")]
    hdrs = [base + ".pb.h"] + ([base + ".grpc.pb.h"] if grpc else [])
    srcs = [base + ".pb.cc"] + ([base + ".grpc.pb.cc"] if grpc else [])
    plugin = ""
    if grpc:
        plugin = "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin --grpc_out=$(GENDIR) "
    native.genrule(
        name = name + "_codegen",
        srcs = [src],
        outs = hdrs + srcs,
        cmd = "/usr/bin/protoc -I. --cpp_out=$(GENDIR) " + plugin + "$(location " + src + ")",
        message = "Generating C++ from " + src,
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        # Generated code: warnings are the generator's.
        copts = ["-w"],
        visibility = visibility,
        deps = deps + (["//third_party:grpc"] if grpc else []) + ["//third_party:protobuf"],
    )
