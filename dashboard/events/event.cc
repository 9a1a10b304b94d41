#include "dashboard/events/event.h"

#include <charconv>

#include "dashboard/events/wire.h"

namespace taas::dashboard {
namespace {

bool IsSessionStart(std::string_view session_log) {
  constexpr uint64_t kStart = 1;
  uint64_t status = 0;
  WireReader field(session_log);
  while (field.Next()) {
    if (field.Is(1, WireType::kVarint)) status = field.varint();
  }
  return field.ok() && status == kStart;
}

// The oneof `what`: the last field of it that the message has counts.
void SetWhat(const WireReader& field, EventView* event) {
  switch (field.number()) {
    case 3:
      event->what = EventView::What::kFileVersion;
      event->content = field.bytes();
      return;
    case 5:
      event->what = EventView::What::kSummary;
      event->content = field.bytes();
      return;
    case 4:  // A graph.
    case 8:  // The metadata of a session's run.
      event->what = EventView::What::kSummary;
      event->content = {};
      return;
    case 7:
      event->what = IsSessionStart(field.bytes()) ? EventView::What::kSessionStart
                                                  : EventView::What::kOther;
      return;
    case 6:  // Texts of logs.
    case 9:  // Graphs of another kind.
      event->what = EventView::What::kOther;
      return;
  }
}

std::optional<ValueView> ParseValue(std::string_view message) {
  ValueView value;
  WireReader field(message);
  while (field.Next()) {
    if (field.Is(2, WireType::kFixed32)) {
      value.what = ValueView::What::kSimple;
      value.simple = field.AsFloat();
    }
    if (field.Is(field.number(), WireType::kBytes)) {
      switch (field.number()) {
        case 1:
          value.tag = field.bytes();
          break;
        case 9:
          value.has_metadata = true;
          value.metadata = field.bytes();
          break;
        case 5:
        case 8:
          value.what = field.number() == 5 ? ValueView::What::kHisto : ValueView::What::kTensor;
          value.content = field.bytes();
          break;
        case 3:  // Histograms before there was TensorFlow.
        case 4:  // Images.
        case 6:  // Sounds.
          value.what = ValueView::What::kOther;
          break;
      }
    }
  }
  if (!field.ok()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<EventView> ParseEvent(std::string_view message) {
  EventView event;
  WireReader field(message);
  while (field.Next()) {
    if (field.Is(1, WireType::kFixed64)) event.wall = field.AsDouble();
    if (field.Is(2, WireType::kVarint)) event.step = static_cast<int64_t>(field.varint());
    if (field.Is(field.number(), WireType::kBytes)) SetWhat(field, &event);
  }
  if (!field.ok()) return std::nullopt;
  return event;
}

bool ParseValues(std::string_view summary, std::vector<ValueView>* values) {
  values->clear();
  WireReader field(summary);
  while (field.Next()) {
    if (!field.Is(1, WireType::kBytes)) continue;
    const std::optional<ValueView> value = ParseValue(field.bytes());
    if (!value) return false;
    values->push_back(*value);
  }
  return field.ok();
}

std::optional<MetadataView> ParseMetadata(std::string_view message) {
  MetadataView metadata;
  std::string_view plugin_data, content;
  WireReader field(message);
  while (field.Next()) {
    if (field.Is(1, WireType::kBytes)) plugin_data = field.bytes();
    if (field.Is(2, WireType::kBytes)) metadata.display_name = field.bytes();
    if (field.Is(3, WireType::kBytes)) metadata.description = field.bytes();
    if (field.Is(4, WireType::kVarint)) metadata.data_class = field.varint();
  }
  WireReader plugin(plugin_data);
  while (plugin.Next()) {
    if (plugin.Is(1, WireType::kBytes)) metadata.plugin = plugin.bytes();
    if (plugin.Is(2, WireType::kBytes)) content = plugin.bytes();
  }
  if (!field.ok() || !plugin.ok()) return std::nullopt;
  // Of a plugin that is neither curves nor histograms this may be anything, and is not looked at.
  WireReader version(content);
  while (version.Next()) {
    if (version.Is(1, WireType::kVarint)) metadata.plugin_version = version.varint();
  }
  return metadata;
}

double ParseFileVersion(std::string_view text) {
  constexpr std::string_view kName = "brain.Event:";
  const size_t name = text.rfind(kName);
  if (name != std::string_view::npos) text.remove_prefix(name + kName.size());
  double version = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() ? version : -1;
}

}  // namespace taas::dashboard
