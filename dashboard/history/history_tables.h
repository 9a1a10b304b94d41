// The history's tables: what is written into them, read from them, and dropped when it is old.
//
// Ownership: owns the file. Threads: one at a time; every call waits for the disk. Errors: of
// SqlFile (history_sql.h).
//
//   HistoryTables tables(std::move(file), limits);
//   RETURN_IF_ERROR(tables.Apply({HistoryJob{…}}));
//   ASSIGN_OR_RETURN(const HistoryPage page, tables.Page({.places = places}));

#ifndef DASHBOARD_HISTORY_HISTORY_TABLES_H_
#define DASHBOARD_HISTORY_HISTORY_TABLES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/history/history_entry.h"
#include "dashboard/history/history_sql.h"

namespace taas::dashboard {

class HistoryTables {
 public:
  // Dropped by one step of Trim: some milliseconds, in which a reader waits.
  static constexpr int kTrimJobs = 16;
  static constexpr int kTrimPages = 256;
  // Free room inside the file that is not given back to the disk: the next jobs use it.
  static constexpr int64_t kFreeBytesKept = 16 << 20;

  HistoryTables(std::unique_ptr<SqlFile> file, HistoryLimits limits)
      : file_(std::move(file)), limits_(limits) {}

  // All of it or nothing. What belongs to a job that is not there is passed over. Curves and logs
  // are too where the file is over its limit with jobs that go on.
  absl::Status Apply(const std::vector<HistoryChange>& changes);

  // Where jobs were that are over, where the newest were first. `ns`: only there; empty: anywhere.
  absl::StatusOr<std::vector<HistoryPlace>> Places(const std::string& ns);
  absl::StatusOr<HistoryPage> Page(const HistoryQuery& query);
  // Of a job that is over; nothing: there is none.
  absl::StatusOr<std::optional<HistoryName>> Locate(const std::string& uid);
  absl::StatusOr<std::optional<HistoryRecord>> Load(const std::string& uid,
                                                    const HistoryParts& parts);
  // Of any job, also of one that goes on or is suspended; "": none were seen.
  absl::StatusOr<std::string> Checkpoints(const std::string& uid);
  absl::StatusOr<std::string> Curves(const std::string& uid);
  absl::StatusOr<std::string> Usage(const std::string& uid);
  // Those that nobody has seen go.
  absl::StatusOr<std::vector<HistoryOpen>> Open();

  // One small step towards the limits; false: they are kept.
  absl::StatusOr<bool> Trim(Clock::WallTime now);
  // Of the file, without what is free in it.
  absl::StatusOr<int64_t> BytesInUse();
  SqlFile& file() { return *file_; }

 private:
  absl::Status Write(const HistoryJob& job);
  absl::Status Write(const HistoryManifest& manifest);
  absl::Status Write(const HistorySeries& series);
  absl::Status Write(const HistoryFiles& files);
  absl::Status Write(const HistoryLastPoints& last);
  absl::Status Write(const HistoryLog& log);
  absl::Status Write(const HistoryGone& gone);
  absl::Status Write(const HistoryCheckpoints& seen);
  absl::Status Write(const HistoryUsage& usage);
  absl::Status WriteEvents(int64_t id, const std::vector<HistoryEvent>& events);
  absl::StatusOr<std::optional<int64_t>> IdOf(const std::string& uid);
  // The one column of a query for a job's uid, unpacked; "": there is none.
  absl::StatusOr<std::string> Packed(const char* query, const std::string& uid);
  absl::Status ChangeCurves(const std::string& uid,
                            const std::function<std::string(const std::string& before)>& change);
  absl::Status LoadEvents(int64_t id, HistoryRecord* record);
  absl::Status LoadLogs(int64_t id, HistoryRecord* record);
  absl::StatusOr<std::vector<int64_t>> TooMany(Clock::WallTime now);

  const std::unique_ptr<SqlFile> file_;
  const HistoryLimits limits_;
  bool full_ = false;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_TABLES_H_
