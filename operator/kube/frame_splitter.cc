#include "operator/kube/frame_splitter.h"

#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

constexpr size_t kLengthBytes = 4;

// Of the frame that `bytes` starts with, its length included; as long as that is not known, what
// has to be there to know it.
size_t SizeOf(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) return kLengthBytes;
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return kLengthBytes + length;
}

bool IsWhole(std::string_view bytes) {
  return bytes.size() >= kLengthBytes && bytes.size() >= SizeOf(bytes);
}

}  // namespace

absl::Status FrameSplitter::Add(std::string_view chunk, const OnFrame& on_frame) {
  std::string joined = std::exchange(rest_, {});
  std::string_view left = chunk;
  if (!joined.empty()) {
    joined += chunk;
    left = joined;
  }
  while (IsWhole(left)) {
    const size_t size = SizeOf(left);
    RETURN_IF_ERROR(on_frame(left.substr(kLengthBytes, size - kLengthBytes)));
    left.remove_prefix(size);
  }
  if (SizeOf(left) > kLengthBytes + kFrameBytesMax) {
    return absl::ResourceExhaustedError("a frame of the reply is longer than " +
                                        std::to_string(kFrameBytesMax) + " bytes");
  }
  // A long frame that comes in many chunks is not copied for each of them.
  const bool none_was_whole = !joined.empty() && left.size() == joined.size();
  rest_ = none_was_whole ? std::move(joined) : std::string(left);
  return absl::OkStatus();
}

}  // namespace taas
