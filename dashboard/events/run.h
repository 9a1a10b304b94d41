// What TensorBoard would keep of the events of one run: of each tag the points of its curve or its
// histograms, bounded, and without those that a restart made obsolete.
//
// The rules are those of TensorBoard's plugin_event_accumulator: the first metadata of a tag say
// what it is; after a second mark of a start all points at its step and later are dropped; files of
// the first version have no such marks, there a step that goes back drops those of its own tags.
//
// Ownership: owns its points and takes their memory from the budget, which outlives it. Threads:
// one at a time; the const methods from any thread while nobody adds. Errors: `Add` says in a
// sentence what it could not use of a record; what it could is kept.
//
//   Run run(&budget);
//   if (std::string problem = run.Add(record); !problem.empty()) ...
//   for (const auto& [tag, series] : run.series()) ...

#ifndef DASHBOARD_EVENTS_RUN_H_
#define DASHBOARD_EVENTS_RUN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "dashboard/events/event.h"
#include "dashboard/events/histogram.h"
#include "dashboard/events/reservoir.h"

namespace taas::dashboard {

// TensorBoard's own numbers: the same points are kept.
inline constexpr size_t kScalarsMax = 1000;
inline constexpr size_t kHistogramsMax = 500;
// Names of tags are made by programs; one that makes a new one for each step is stopped here.
inline constexpr size_t kTagsMax = 10'000;
inline constexpr size_t kTagBytesMax = 4'096;

// Memory for points, shared by all runs of a set.
struct MemoryBudget {
  uint64_t most = 0;
  uint64_t used = 0;
};

struct Scalar {
  double wall = 0;
  int64_t step = 0;
  double value = 0;
};

struct Series {
  using Scalars = Reservoir<Scalar>;
  using Histograms = Reservoir<Histogram>;
  // Nothing for what is neither: texts, images, tags whose metadata did not come yet.
  std::variant<std::monostate, Scalars, Histograms> points;
  bool has_metadata = false;
  bool has_values = false;  // Also when a restart dropped all of them.
  bool is_known_version = true;  // Of the plugin; others are not listed.
  std::string display_name;
  std::string description;
};

// Finds a tag by a piece of a record, without a string of its own.
struct TagHash {
  using is_transparent = void;
  size_t operator()(std::string_view tag) const { return std::hash<std::string_view>()(tag); }
};

class Run {
 public:
  using SeriesByTag = std::unordered_map<std::string, Series, TagHash, std::equal_to<>>;

  explicit Run(MemoryBudget* budget) : budget_(*budget) {}
  ~Run() { budget_.used -= used_; }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  std::string Add(std::string_view record);

  const SeriesByTag& series() const { return series_; }
  // Null if there is no such tag.
  const Series* Find(std::string_view tag) const;
  // Seconds since 1970 of the first event, by which runs are ordered.
  std::optional<double> first_wall() const { return first_wall_; }

 private:
  void PurgeBeforeSummaryOrStart(const EventView& event);
  void Purge(int64_t step, Series* series);
  std::string AddValue(const EventView& event, const ValueView& value);
  std::string AddScalar(const EventView& event, const ValueView& value, Series::Scalars* points);
  std::string AddHistogram(const EventView& event, const ValueView& value,
                           Series::Histograms* points);
  Series* FindOrMake(std::string_view tag, std::string* problem);
  bool HasRoomFor(uint64_t bytes) const;
  std::string NoRoom(int64_t step) const;
  void Account(uint64_t gained, uint64_t lost);

  MemoryBudget& budget_;
  uint64_t used_ = 0;
  SeriesByTag series_;
  std::vector<ValueView> values_;  // Of the record at hand.
  std::optional<double> first_wall_;
  double file_version_ = 0;
  bool has_started_ = false;
  int64_t newest_step_ = -1;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_RUN_H_
