#include "dashboard/history/history_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

// "TaaH" in the header, so that no other program's database is taken for a history.
constexpr int64_t kApplicationId = 0x54616148;

// Step i brings a file from version i to i + 1. What a released version wrote stays readable: steps
// are added and never changed.
constexpr const char* kSteps[] = {
    // `over_at`, in ms: since when the job is history; null while it goes on. It is also its place
    // in the list, so it stays what it first was. `settled`: nothing more is to be found out.
    "CREATE TABLE jobs (id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,"
    " ns TEXT NOT NULL, name TEXT NOT NULL, over_at INTEGER, deleted INTEGER,"
    " unseen INTEGER NOT NULL DEFAULT 0, settled INTEGER NOT NULL DEFAULT 0,"
    " generation INTEGER NOT NULL DEFAULT -1, search TEXT NOT NULL);"
    // Who may see little skips the others' rows without reading them.
    "CREATE INDEX jobs_over ON jobs (over_at, uid, kind, ns) WHERE over_at IS NOT NULL;"
    // What is large is apart, so that going through all jobs reads little.
    "CREATE TABLE bodies (job INTEGER PRIMARY KEY, row TEXT NOT NULL, detail TEXT NOT NULL,"
    " manifest BLOB);"
    "CREATE TABLE events (job INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,"
    " event TEXT NOT NULL, PRIMARY KEY (job, id));"
    "CREATE TABLE series (job INTEGER PRIMARY KEY, curves BLOB NOT NULL);"
    "CREATE TABLE logs (job INTEGER NOT NULL, replica TEXT NOT NULL, pod_number INTEGER NOT NULL,"
    " tail BLOB NOT NULL, PRIMARY KEY (job, replica));",
    "ALTER TABLE bodies ADD COLUMN checkpoints TEXT NOT NULL DEFAULT '';",
    "CREATE TABLE usage (job INTEGER PRIMARY KEY, used BLOB NOT NULL);",
};

// Made by us it is private from its first moment; SQLite gives the -wal the mode of the file.
absl::Status Touch(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return ErrnoToStatus(errno, "open the history", path);
  close(file);
  return absl::OkStatus();
}

absl::Status MakePrivate(const std::string& path) {
  for (const std::string& name : {path, path + "-wal"}) {
    if (chmod(name.c_str(), 0600) == 0 || errno == ENOENT) continue;
    return ErrnoToStatus(errno, "make the history private", name);
  }
  return absl::OkStatus();
}

absl::Status LaterVersion(const SqlFile& file, int64_t version, size_t known) {
  return absl::FailedPreconditionError(
      "open the history " + file.path() + ": its format " + std::to_string(version) +
      " is of a later version of this program, which knows up to " + std::to_string(known) +
      "; run that one, or move the file away to begin anew");
}

// Before anything is set: what is not ours is not touched. True: it is a new one.
absl::StatusOr<bool> CheckOurs(SqlFile* file) {
  ASSIGN_OR_RETURN(const int64_t id, file->Number("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, file->Number("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t tables, file->Number("SELECT count(*) FROM sqlite_schema"));
  if (id == kApplicationId) {
    if (version > static_cast<int64_t>(std::size(kSteps))) {
      return LaterVersion(*file, version, std::size(kSteps));
    }
    return false;
  }
  if (id == 0 && version == 0 && tables == 0) return true;
  return absl::FailedPreconditionError("open the history " + file->path() +
                                       ": this is another program's database; name another file");
}

absl::Status CheckTables(SqlFile* file) {
  ASSIGN_OR_RETURN(const int64_t tables,
                   file->Number("SELECT count(*) FROM sqlite_schema WHERE name IN ('jobs',"
                                " 'jobs_over', 'bodies', 'events', 'series', 'logs', 'usage')"));
  if (tables == 7) return absl::OkStatus();
  return absl::DataLossError("open the history " + file->path() +
                             ": tables of its format are missing");
}

absl::StatusOr<std::unique_ptr<SqlFile>> OpenOnce(const std::string& path) {
  RETURN_IF_ERROR(Touch(path));
  ASSIGN_OR_RETURN(std::unique_ptr<SqlFile> file, SqlFile::Open(path));
  // Exclusive: no shared memory file, and a second process is told so instead of writing between.
  RETURN_IF_ERROR(file->Run("PRAGMA locking_mode = EXCLUSIVE"));
  // Damage is found when it is met, and a schema from elsewhere runs nothing.
  RETURN_IF_ERROR(file->Run("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"));
  ASSIGN_OR_RETURN(const bool made, CheckOurs(file.get()));
  RETURN_IF_ERROR(MakePrivate(path));
  if (made) {
    // Before the first table: what old jobs had is given back bit by bit (HistoryTables::Trim).
    RETURN_IF_ERROR(file->Run("PRAGMA auto_vacuum = INCREMENTAL"));
    RETURN_IF_ERROR(
        file->Run(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str()));
  }
  RETURN_IF_ERROR(file->Run("PRAGMA journal_mode = WAL"));
  // A power cut may take the last seconds of a history and never what was before.
  RETURN_IF_ERROR(file->Run("PRAGMA synchronous = NORMAL"));
  RETURN_IF_ERROR(file->Run("PRAGMA journal_size_limit = 16777216"));
  // In KiB, a quarter of what SQLite takes: the kernel keeps the rest of the file at hand.
  RETURN_IF_ERROR(file->Run("PRAGMA cache_size = -512"));
  // A read-only root has no place for temporary files.
  RETURN_IF_ERROR(file->Run("PRAGMA temp_store = MEMORY"));
  RETURN_IF_ERROR(Migrate(file.get(), kSteps));
  RETURN_IF_ERROR(CheckTables(file.get()));
  return file;
}

}  // namespace

absl::Status Migrate(SqlFile* file, std::span<const char* const> steps) {
  ASSIGN_OR_RETURN(SqlTransaction transaction, SqlTransaction::Begin(file));
  ASSIGN_OR_RETURN(const int64_t version, file->Number("PRAGMA user_version"));
  if (version > static_cast<int64_t>(steps.size())) {
    return LaterVersion(*file, version, steps.size());
  }
  const auto seen = static_cast<size_t>(std::max<int64_t>(version, 0));
  for (size_t i = seen; i < steps.size(); ++i) {
    RETURN_IF_ERROR(file->Run(steps[i])).With("bring it to format " + std::to_string(i + 1));
  }
  RETURN_IF_ERROR(
      file->Run(("PRAGMA user_version = " + std::to_string(steps.size())).c_str()));
  return transaction.Commit();
}

absl::StatusOr<std::string> SetHistoryFileAside(const std::string& path) {
  PosixFileSystem files;
  std::string target;
  for (int n = 1; n <= kBrokenFilesMax; ++n) {
    target = path + ".broken-" + std::to_string(n);
    ASSIGN_OR_RETURN(const bool taken, files.Exists(target));
    if (!taken) break;
  }
  RETURN_IF_ERROR(files.Remove(target + "-wal"));
  RETURN_IF_ERROR(files.Rename(path, target));
  // What is in it belongs to the old file; beside a new one it would be taken for that one's.
  ASSIGN_OR_RETURN(const bool wal, files.Exists(path + "-wal"));
  if (wal) {
    RETURN_IF_ERROR(files.Rename(path + "-wal", target + "-wal"));
  }
  RETURN_IF_ERROR(files.Remove(path + "-shm"));
  return target;
}

absl::StatusOr<OpenedHistory> OpenHistoryFile(const std::string& path) {
  PosixFileSystem files;
  RETURN_IF_ERROR(files.MakeDirs(DirName(path))).With("open the history");
  auto opened = OpenOnce(path);
  if (opened.ok()) return OpenedHistory{*std::move(opened), ""};
  if (!absl::IsDataLoss(opened.status())) return opened.status();
  const std::string why(opened.status().message());
  opened = absl::CancelledError("closed");
  ASSIGN_OR_RETURN(const std::string place, SetHistoryFileAside(path));
  ASSIGN_OR_RETURN(std::unique_ptr<SqlFile> anew, OpenOnce(path));
  return OpenedHistory{std::move(anew), why + "; the file is now " + place +
                                            ", and the history begins anew"};
}

}  // namespace taas::dashboard
