#include "trainer/inspect/event_facts.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/formats/tensorflow.pb.h"
#include "trainer/inspect/tensor_table.h"
#include "trainer/summary/event_file.h"

namespace taas {
namespace {

// A graph of a hundred thousand nodes has some ten million bytes; a record beyond this is passed
// over.
constexpr uint64_t kEventBytesMax = 256 << 20;

constexpr char kGraph[] = "(graph)";
constexpr char kStart[] = "(start of a process)";

// The one number of a scalar as TensorFlow 2 writes it.
std::optional<double> ScalarOf(const std::string& bytes) {
  tf::TensorProto tensor;
  if (!tensor.ParseFromString(bytes)) return std::nullopt;
  if (tensor.float_val_size() == 1) return tensor.float_val(0);
  if (tensor.double_val_size() == 1) return tensor.double_val(0);
  float value = 0;
  if (tensor.dtype() != tf::DT_FLOAT || tensor.tensor_content().size() != sizeof(value)) {
    return std::nullopt;
  }
  std::memcpy(&value, tensor.tensor_content().data(), sizeof(value));
  return value;
}

class Collector {
 public:
  void Add(const summary::Event& event) {
    ++facts_.events;
    if (event.what_case() == summary::Event::kGraphDef) Count(kGraph, "graph", event.step());
    if (event.session_log().status() == summary::SessionLog::START) {
      Count(kStart, "start", event.step());
    }
    for (const summary::Summary::Value& value : event.summary().value()) {
      AddValue(value, event.step());
    }
  }
  EventFacts Take() { return std::move(facts_); }

 private:
  TagFacts& Count(const std::string& tag, const std::string& kind, int64_t step) {
    TagFacts& facts = facts_.tags[tag];
    if (facts.events++ == 0) facts = {.kind = kind, .events = 1, .first_step = step};
    facts.last_step = step;
    return facts;
  }

  void AddValue(const summary::Summary::Value& value, int64_t step) {
    using Value = summary::Summary::Value;
    // The metadata is with a tag's first event only.
    const auto known = facts_.tags.find(value.tag());
    std::string plugin = value.metadata().plugin_data().plugin_name();
    if (plugin == "scalars") plugin = "scalar";
    if (plugin == "histograms") plugin = "histogram";
    if (plugin.empty() && known != facts_.tags.end()) plugin = known->second.kind;
    if (value.value_case() == Value::kSimpleValue) {
      Count(value.tag(), "scalar", step).last_value = value.simple_value();
    } else if (value.value_case() == Value::kHisto) {
      Count(value.tag(), "histogram", step);
    } else {
      TagFacts& facts = Count(value.tag(), plugin.empty() ? "unknown" : plugin, step);
      if (facts.kind == "scalar") {
        facts.last_value = ScalarOf(value.tensor()).value_or(facts.last_value);
      }
    }
  }

  EventFacts facts_;
};

}  // namespace

absl::StatusOr<EventFacts> FactsOfEvents(FileSystem& files,
                                         const std::vector<std::string>& paths) {
  Collector collector;
  for (const std::string& path : paths) {
    RETURN_IF_ERROR(ReadEventFile(files, path, kEventBytesMax, [&](const summary::Event& event) {
      collector.Add(event);
    }));
  }
  return collector.Take();
}

std::string TableOf(const EventFacts& facts) {
  std::vector<std::vector<std::string>> rows = {{"TAG", "KIND", "EVENTS", "STEPS", "LAST"}};
  for (const auto& [tag, of] : facts.tags) {
    char last[32] = "-";
    if (of.kind == "scalar") std::snprintf(last, sizeof(last), "%.6g", of.last_value);
    std::string steps = std::to_string(of.first_step);
    if (of.last_step != of.first_step) steps += " to " + std::to_string(of.last_step);
    rows.push_back({tag, of.kind, std::to_string(of.events), steps, last});
  }
  return TableOf(rows);
}

nlohmann::json JsonOf(const EventFacts& facts) {
  nlohmann::json tags = nlohmann::json::array();
  for (const auto& [tag, of] : facts.tags) {
    nlohmann::json one = {{"tag", tag},
                          {"kind", of.kind},
                          {"events", of.events},
                          {"firstStep", of.first_step},
                          {"lastStep", of.last_step}};
    if (of.kind == "scalar") one["last"] = of.last_value;
    tags.push_back(std::move(one));
  }
  return {{"events", facts.events}, {"tags", tags}};
}

}  // namespace taas
