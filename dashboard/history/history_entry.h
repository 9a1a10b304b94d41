// What the history keeps of a job, as values: what goes in and what comes out.
//
// Ownership: values. Threads: any. Errors: none.
//
//   store.Put(HistoryJob{.uid = uid, .kind = JobKind::kTrainingJob, .ns = "ml", .name = "mnist"});

#ifndef DASHBOARD_HISTORY_HISTORY_ENTRY_H_
#define DASHBOARD_HISTORY_HISTORY_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dashboard/history/history_series.h"
#include "dashboard/history/history_usage.h"
#include "operator/api/job.h"
#include "operator/base/clock.h"

namespace taas::dashboard {

// Which jobs are kept; the oldest go first.
struct HistoryLimits {
  int days = 30;
  // Of the file: room for 5,000 jobs with curves of 1,000 points and logs.
  int64_t bytes = 512LL << 20;
  // What a list can be searched through in a quarter of a second.
  int64_t jobs = 100'000;
};

// Of one job: more are what a loop writes, and the newest say how it ended.
inline constexpr size_t kHistoryEventsMax = 200;
// Of each replica's log: its end, where a failure is told. Longer lines are dumps of data.
inline constexpr size_t kLogTailLines = 200;
inline constexpr size_t kLogTailBytes = 64 << 10;
inline constexpr size_t kLogLineBytes = 8 << 10;

struct HistoryEvent {
  std::string id;  // Of the event's object: it replaces itself.
  Clock::WallTime at{};
  std::string json;  // A ClusterEvent of dashboard/web.
};

// The state of a job, whole; what else is kept of it stays.
struct HistoryJob {
  std::string uid;
  JobKind kind = JobKind::kTrainingJob;
  std::string ns, name;
  // Since when it is history: it ended, or was deleted. Nothing: it goes on.
  std::optional<Clock::WallTime> over;
  std::optional<Clock::WallTime> deleted;
  bool settled = false;  // Nothing more is to be found out but that it was deleted.
  std::string search;    // In lower case.
  std::string row;       // A JobRow of dashboard/web.
  std::string detail;    // What a HistoryDetail has beyond it.
  std::vector<HistoryEvent> events;  // Added to those that are there.
};

struct HistoryManifest {
  std::string uid;
  int64_t generation = 0;
  std::string json;
};

// A SeriesAnswer of dashboard/web as the trainer gave it; joined with what is there.
struct HistorySeries {
  std::string uid;
  std::string answer;
};

// What a job's event files have, which fills what its answers lack.
struct HistoryFiles {
  std::string uid;
  std::string curves;
  double until = 0;  // Of FilledCurves.
};

struct HistoryLastPoints {
  std::string uid;
  LastPoints points;
};

// A JobCheckpoints of dashboard/web, as it was last seen.
struct HistoryCheckpoints {
  std::string uid;
  std::string json;
};

// What its replicas used at one time; joined with what is there.
struct HistoryUsage {
  std::string uid;
  UsageSample sample;
};

struct HistoryLine {
  std::string t;  // ISO 8601 in UTC; empty: unknown.
  std::string l;
};
struct HistoryTail {
  std::string pod;      // Its name.
  std::string replica;  // "worker-1"
  int32_t pod_number = 0;
  std::vector<HistoryLine> lines;
  bool truncated = false;  // There was more before.
};
// Of the newest pod of each replica one is kept.
struct HistoryLog {
  std::string uid;
  HistoryTail tail;
};

struct HistoryGone {
  std::string uid;
  Clock::WallTime at{};
  bool unseen = false;  // It went while nobody looked: `at` is when that was noticed.
};

using HistoryChange =
    std::variant<HistoryJob, HistoryManifest, HistorySeries, HistoryFiles, HistoryLastPoints,
                 HistoryLog, HistoryGone, HistoryCheckpoints, HistoryUsage>;

// A job that may still exist in the cluster, as far as the history knows.
struct HistoryOpen {
  std::string uid;
  JobKind kind = JobKind::kTrainingJob;
  std::string ns;
  int64_t generation = -1;  // Of its manifest; -1: there is none.
  bool over = false;
  bool settled = false;
};

struct HistoryPlace {
  JobKind kind = JobKind::kTrainingJob;
  std::string ns;
  bool operator==(const HistoryPlace&) const = default;
};

// After which row a page begins: rows are ordered by when they became history, then by uid.
struct HistoryCursor {
  int64_t over_ms = 0;
  std::string uid;
};

struct HistoryQuery {
  std::vector<HistoryPlace> places;  // Nothing else is seen.
  std::vector<std::string> words;    // All of them are in it; in lower case.
  std::optional<HistoryCursor> before;
  int limit = 100;
};

struct HistoryRow {
  HistoryCursor cursor;
  std::string row;
  std::optional<Clock::WallTime> deleted;
  bool unseen = false;
};

struct HistoryPage {
  std::vector<HistoryRow> rows;
  bool more = false;
};

struct HistoryName {
  HistoryPlace place;
  std::string name;
};

// What of a job is read: what a caller may not see is not even loaded.
struct HistoryParts {
  bool events = false, manifest = false, logs = false, usage = false;
};

struct HistoryRecord {
  HistoryRow row;
  std::string detail;
  std::vector<std::string> events;  // Oldest first.
  std::string manifest;             // Empty: none is known, or it was not asked for.
  std::string curves;               // Of JoinCurves (history_series.h); empty: none.
  std::string checkpoints;          // Of HistoryCheckpoints; empty: none were seen.
  std::string usage;                // Of JoinUsage (history_usage.h); empty: none, or not asked.
  std::vector<HistoryTail> logs;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_ENTRY_H_
