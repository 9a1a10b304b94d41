#include "operator/kube/watch_reader.h"

#include "absl/status/statusor.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status.h"
#include "operator/kube/json_slice.h"

namespace taas {
namespace {

// Numbers of the fields of metav1.WatchEvent and runtime.RawExtension.
constexpr int kEventType = 1, kEventObject = 2;
constexpr int kExtensionRaw = 1;

WatchType TypeOf(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    WatchType type;
  } kTypes[] = {{"ADDED", WatchType::kAdded},
                {"MODIFIED", WatchType::kModified},
                {"DELETED", WatchType::kDeleted},
                {"BOOKMARK", WatchType::kBookmark},
                {"ERROR", WatchType::kError}};
  for (const auto& known : kTypes) {
    if (known.name == name) return known.type;
  }
  return WatchType::kUnknown;
}

absl::StatusOr<WatchEvent> EventOf(std::string_view type_name, std::string_view object) {
  if (type_name.empty() || object.empty()) {
    return absl::InvalidArgumentError("this is no watch event: it has no type or no object");
  }
  return WatchEvent{.type = TypeOf(type_name), .type_name = type_name, .object = object};
}

absl::StatusOr<WatchEvent> DecodeLine(std::string_view line) {
  std::string_view type, object;
  RETURN_IF_ERROR(ForEachMember(line, [&](std::string_view key, std::string_view value) {
    if (key == "type") type = value;
    if (key == "object") object = value;
    return absl::OkStatus();
  }));
  if (type.size() < 2 || type.front() != '"') type = {};
  return EventOf(type.empty() ? type : type.substr(1, type.size() - 2), object);
}

absl::StatusOr<WatchEvent> DecodeFrame(std::string_view frame) {
  std::string_view type, object;
  RETURN_IF_ERROR(ForEachField(frame, [&](const ProtobufField& field) {
    if (field.number == kEventType) type = field.bytes;
    if (field.number != kEventObject) return absl::OkStatus();
    return ForEachField(field.bytes, [&object](const ProtobufField& inner) {
      if (inner.number == kExtensionRaw) object = inner.bytes;
      return absl::OkStatus();
    });
  }));
  return EventOf(type, object);
}

}  // namespace

absl::Status WatchReader::Add(std::string_view chunk, const OnEvent& on_event) {
  if (chunk.empty()) return absl::OkStatus();
  if (form_ == Form::kNotKnown) form_ = chunk.front() == 0 ? Form::kFrames : Form::kLines;
  const auto take = [&on_event](const absl::StatusOr<WatchEvent>& event) {
    return event.ok() ? on_event(*event) : event.status();
  };
  if (form_ == Form::kFrames) {
    return frames_.Add(chunk, [&](std::string_view frame) { return take(DecodeFrame(frame)); });
  }
  return lines_.Add(chunk, [&](std::string_view line) { return take(DecodeLine(line)); });
}

}  // namespace taas
