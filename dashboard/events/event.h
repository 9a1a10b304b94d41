// TensorFlow's Event, Summary.Value and SummaryMetadata, taken apart as far as curves and
// histograms need them.
//
// Ownership: views into the record's bytes. Threads: any. Errors: nothing for bytes that are no
// such message.
//
//   const std::optional<EventView> event = ParseEvent(record);
//   if (!ParseValues(event->content, &values)) ...
//   for (const ValueView& value : values) ...

#ifndef DASHBOARD_EVENTS_EVENT_H_
#define DASHBOARD_EVENTS_EVENT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace taas::dashboard {

struct EventView {
  double wall = 0;  // Seconds since 1970.
  int64_t step = 0;
  enum class What : uint8_t { kOther, kFileVersion, kSummary, kSessionStart };
  What what = What::kOther;
  // The version, or a Summary. TensorBoard takes a graph or a run's metadata for a summary too; of
  // them this is empty.
  std::string_view content;
};
std::optional<EventView> ParseEvent(std::string_view message);

struct ValueView {
  std::string_view tag;
  enum class What : uint8_t { kNone, kSimple, kHisto, kTensor, kOther };
  What what = What::kNone;
  float simple = 0;
  std::string_view content;  // A HistogramProto or a TensorProto.
  bool has_metadata = false;
  std::string_view metadata;
};
// Into `values`, which a caller keeps for the next one; false for bytes that are no summary.
bool ParseValues(std::string_view summary, std::vector<ValueView>* values);

struct MetadataView {
  std::string_view plugin;
  std::string_view display_name;
  std::string_view description;
  uint64_t data_class = 0;      // Of the constants below, or another.
  uint64_t plugin_version = 0;  // 0 is the only one that there is.
};
inline constexpr uint64_t kUnknownDataClass = 0;
inline constexpr uint64_t kScalarDataClass = 1;
inline constexpr uint64_t kTensorDataClass = 2;
std::optional<MetadataView> ParseMetadata(std::string_view message);

// "brain.Event:2" → 2; -1 for what has no number.
double ParseFileVersion(std::string_view text);

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_EVENT_H_
