// SQLite with absl::Status: one connection, its statements, and whose failure is whose.
//
// Ownership: owns the connection; statements are borrowed and go before it. Threads: one at a time.
// Errors: DataLoss: the file is damaged or no database. FailedPrecondition: another process has it.
// Unavailable: the disk is full, away or may not be written. Internal: anything else. The message
// has what was attempted, the path and SQLite's words.
//
//   ASSIGN_OR_RETURN(SqlStatement find, file->Prepare("SELECT row FROM jobs WHERE uid = ?"));
//   ASSIGN_OR_RETURN(const bool found, find.Bind(uid).Next());
//   if (found) Use(find.Text(0));

#ifndef DASHBOARD_HISTORY_HISTORY_SQL_H_
#define DASHBOARD_HISTORY_HISTORY_SQL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace taas::dashboard {

class SqlFile;

// Prepared once per text; given back, ready for the next use, when this goes.
class SqlStatement {
 public:
  SqlStatement(SqlFile* file, sqlite3_stmt* statement) : file_(file), statement_(statement) {}
  SqlStatement(SqlStatement&& other) noexcept
      : file_(other.file_),
        statement_(std::exchange(other.statement_, nullptr)),
        next_(other.next_),
        bad_(other.bad_) {}
  SqlStatement& operator=(SqlStatement&&) = delete;
  ~SqlStatement();

  // The parameters in order. A value is copied.
  SqlStatement& Bind(std::string_view text);
  SqlStatement& Bind(const char* text) { return Bind(std::string_view(text)); }
  SqlStatement& Bind(const std::string& text) { return Bind(std::string_view(text)); }
  SqlStatement& Bind(int64_t number);
  SqlStatement& Bind(std::optional<int64_t> number);
  SqlStatement& BindBytes(std::string_view bytes);

  // False: there are no more rows.
  absl::StatusOr<bool> Next();
  // For what has no rows.
  absl::Status Done();

  std::string Text(int column) const;  // Also of bytes.
  int64_t Number(int column) const;
  std::optional<int64_t> MaybeNumber(int column) const;

 private:
  SqlFile* file_;
  sqlite3_stmt* statement_;
  int next_ = 1;
  int bad_ = 0;  // The first parameter that could not be bound; 0: none.
};

class SqlFile {
 public:
  // Makes a file that is not there.
  static absl::StatusOr<std::unique_ptr<SqlFile>> Open(const std::string& path);
  ~SqlFile();

  // One or more statements without parameters and rows.
  absl::Status Run(const char* sql);
  // `sql` is a constant of the program: a statement is kept for each.
  absl::StatusOr<SqlStatement> Prepare(const char* sql);
  // The one number that `sql` selects; 0: no row.
  absl::StatusOr<int64_t> Number(const char* sql);
  // Rows that the last statement wrote or removed.
  int64_t changed() const;
  const std::string& path() const { return path_; }
  // Of the last call that failed.
  absl::Status Error(std::string_view attempt) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  SqlFile(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}

  const std::string path_;
  sqlite3* const db_;
  std::map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// Rolled back when it goes, unless it was committed.
class SqlTransaction {
 public:
  static absl::StatusOr<SqlTransaction> Begin(SqlFile* file);
  SqlTransaction(SqlTransaction&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  SqlTransaction& operator=(SqlTransaction&&) = delete;
  ~SqlTransaction();
  absl::Status Commit();

 private:
  explicit SqlTransaction(SqlFile* file) : file_(file) {}
  SqlFile* file_;  // Null: it is over.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_SQL_H_
