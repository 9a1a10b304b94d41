// Cuts a stream of chunks into frames: four bytes of length, the most significant first, and as
// many bytes (k8s.io/apimachinery/pkg/util/framer).
//
// Ownership: keeps at most one unfinished frame. Threads: one at a time. Errors: ResourceExhausted
// once a frame is longer than the limit; the splitter is of no use afterwards.
//
//   FrameSplitter frames;
//   RETURN_IF_ERROR(frames.Add(chunk, [&](std::string_view frame) { return Handle(frame); }));

#ifndef OPERATOR_KUBE_FRAME_SPLITTER_H_
#define OPERATOR_KUBE_FRAME_SPLITTER_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taas {

class FrameSplitter {
 public:
  // etcd takes no object above 1.5 MiB, and protobuf is what it stores.
  static constexpr size_t kFrameBytesMax = 8 << 20;

  // Calls `on_frame` for each finished frame. An error of `on_frame` ends the chunk and is
  // returned.
  using OnFrame = std::function<absl::Status(std::string_view frame)>;
  absl::Status Add(std::string_view chunk, const OnFrame& on_frame);

 private:
  std::string rest_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_FRAME_SPLITTER_H_
