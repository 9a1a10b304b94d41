// Cuts the stream of a watch into events: in JSON a line each, in protobuf a frame each. The first
// byte tells which: no frame is so long that its length begins with another than zero.
//
// Ownership: keeps at most one unfinished event; `object` points into what is being read. Threads:
// one at a time. Errors: InvalidArgument for what is no watch event, ResourceExhausted for one that
// is too long; the reader is of no use afterwards. An unknown type is an event of type kUnknown,
// which callers skip.
//
//   WatchReader events;
//   RETURN_IF_ERROR(events.Add(chunk, [&](const WatchEvent& event) { return Handle(event); }));

#ifndef OPERATOR_KUBE_WATCH_READER_H_
#define OPERATOR_KUBE_WATCH_READER_H_

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "operator/kube/frame_splitter.h"
#include "operator/kube/line_splitter.h"

namespace taas {

enum class WatchType { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };

struct WatchEvent {
  WatchType type = WatchType::kUnknown;
  std::string_view type_name;
  std::string_view object;  // As the API server sends it when it is asked for it alone.
};

class WatchReader {
 public:
  // An error of `on_event` ends the chunk and is returned.
  using OnEvent = std::function<absl::Status(const WatchEvent& event)>;
  absl::Status Add(std::string_view chunk, const OnEvent& on_event);

 private:
  enum class Form { kNotKnown, kLines, kFrames };

  Form form_ = Form::kNotKnown;
  LineSplitter lines_;
  FrameSplitter frames_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_WATCH_READER_H_
