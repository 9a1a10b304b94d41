// The file of the history: made, brought up to date, or put aside.
//
// A file that cannot be read any more must not keep the dashboard from recording, and must not be
// destroyed either: it becomes FILE.broken-N and a new one begins. What is no history of ours, or
// was written by a later version, is left as it is and refused.
//
// Ownership: values. Threads: one at a time. Errors: FailedPrecondition: a later version, another
// program's database, or another process has it open. Unavailable: it cannot be made or written.
//
//   ASSIGN_OR_RETURN(OpenedHistory opened, OpenHistoryFile("/data/history.db"));
//   if (!opened.set_aside.empty()) Log(LogLevel::kWarning, opened.set_aside);

#ifndef DASHBOARD_HISTORY_HISTORY_FILE_H_
#define DASHBOARD_HISTORY_HISTORY_FILE_H_

#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "dashboard/history/history_sql.h"

namespace taas::dashboard {

// Broken files that are kept, for whoever wants to look what can be saved. A disk that goes on
// damaging files is not filled with them: the last place is used again.
inline constexpr int kBrokenFilesMax = 3;

struct OpenedHistory {
  std::unique_ptr<SqlFile> file;
  std::string set_aside;  // What became of the file that was there, and why; empty: nothing.
};

// The file and its -wal are for their owner only (0600).
absl::StatusOr<OpenedHistory> OpenHistoryFile(const std::string& path);

// Moves a file aside that was found damaged while it was used, and its -wal; where to.
absl::StatusOr<std::string> SetHistoryFileAside(const std::string& path);

// Runs the steps that the file has not seen yet and notes how far it is; all of them or none.
// FailedPrecondition if it has seen more than there are.
absl::Status Migrate(SqlFile* file, std::span<const char* const> steps);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_FILE_H_
