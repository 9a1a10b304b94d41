// Finds values inside a message of Protocol Buffers without reading it into generated classes: for
// messages of hundreds of fields of which a few are wanted.
//
// The wire format: https://protobuf.dev/programming-guides/encoding
//
// Ownership: slices point into the caller's bytes. Threads: any. Errors: InvalidArgument for bytes
// that are no message.
//
//   RETURN_IF_ERROR(ForEachField(pod, [&](const ProtobufField& field) { … }));

#ifndef OPERATOR_BASE_PROTOBUF_SLICE_H_
#define OPERATOR_BASE_PROTOBUF_SLICE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taas {

struct ProtobufField {
  int number = 0;
  // A string, bytes or a message, or else a whole number.
  bool has_bytes = false;
  std::string_view bytes;
  uint64_t varint = 0;  // Negative numbers as their two's complement of 64 bits.
};

// Fields of a fixed width, which nobody asks for, are passed over.
absl::Status ForEachField(std::string_view message,
                          absl::FunctionRef<absl::Status(const ProtobufField& field)> on_field);

// For those who write: one field of bytes, one of a whole number.
void AppendField(int number, std::string_view bytes, std::string* message);
void AppendField(int number, uint64_t varint, std::string* message);

}  // namespace taas

#endif  // OPERATOR_BASE_PROTOBUF_SLICE_H_
