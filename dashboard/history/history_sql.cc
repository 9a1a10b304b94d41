#include "dashboard/history/history_sql.h"

#include <sqlite3.h>

#include "operator/base/status.h"

namespace taas::dashboard {

SqlStatement::~SqlStatement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

SqlStatement& SqlStatement::Bind(std::string_view text) {
  const int at = next_++;
  // Without a pointer SQLite binds NULL, which no text is.
  const char* data = text.data() == nullptr ? "" : text.data();
  if (sqlite3_bind_text64(statement_, at, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) !=
          SQLITE_OK &&
      bad_ == 0) {
    bad_ = at;
  }
  return *this;
}

SqlStatement& SqlStatement::Bind(int64_t number) {
  const int at = next_++;
  if (sqlite3_bind_int64(statement_, at, number) != SQLITE_OK && bad_ == 0) bad_ = at;
  return *this;
}

SqlStatement& SqlStatement::Bind(std::optional<int64_t> number) {
  if (number.has_value()) return Bind(*number);
  const int at = next_++;
  if (sqlite3_bind_null(statement_, at) != SQLITE_OK && bad_ == 0) bad_ = at;
  return *this;
}

SqlStatement& SqlStatement::BindBytes(std::string_view bytes) {
  const int at = next_++;
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  if (sqlite3_bind_blob64(statement_, at, data, bytes.size(), SQLITE_TRANSIENT) != SQLITE_OK &&
      bad_ == 0) {
    bad_ = at;
  }
  return *this;
}

absl::StatusOr<bool> SqlStatement::Next() {
  if (bad_ != 0) return file_->Error("bind parameter " + std::to_string(bad_) + " in");
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return file_->Error("read or write");
  }
}

absl::Status SqlStatement::Done() { return Next().status(); }

std::string SqlStatement::Text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? "" : std::string(bytes, static_cast<size_t>(size));
}

int64_t SqlStatement::Number(int column) const { return sqlite3_column_int64(statement_, column); }

std::optional<int64_t> SqlStatement::MaybeNumber(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return Number(column);
}

void SqlFile::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqlFile::~SqlFile() {
  statements_.clear();
  sqlite3_close(db_);
}

absl::StatusOr<std::unique_ptr<SqlFile>> SqlFile::Open(const std::string& path) {
  sqlite3* db = nullptr;
  const int result = sqlite3_open(path.c_str(), &db);
  std::unique_ptr<SqlFile> file(new SqlFile(path, db));  // Also closes what failed to open.
  if (result != SQLITE_OK) return file->Error("open");
  return file;
}

absl::Status SqlFile::Error(std::string_view attempt) const {
  const std::string message =
      std::string(attempt) + " the history " + path_ + ": " + sqlite3_errmsg(db_);
  switch (sqlite3_errcode(db_) & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::FailedPreconditionError(
          message + "; another process has it open: give each dashboard a file of its own");
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return absl::UnavailableError(message);
    default:
      return absl::InternalError(message);
  }
}

absl::Status SqlFile::Run(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return absl::OkStatus();
  return Error("read or write");
}

absl::StatusOr<SqlStatement> SqlFile::Prepare(const char* sql) {
  auto& kept = statements_[sql];
  if (kept == nullptr) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK) {
      return Error("read or write");
    }
    kept.reset(made);
  }
  return SqlStatement(this, kept.get());
}

absl::StatusOr<int64_t> SqlFile::Number(const char* sql) {
  ASSIGN_OR_RETURN(SqlStatement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool found, statement.Next());
  return found ? statement.Number(0) : 0;
}

int64_t SqlFile::changed() const { return sqlite3_changes64(db_); }

absl::StatusOr<SqlTransaction> SqlTransaction::Begin(SqlFile* file) {
  RETURN_IF_ERROR(file->Run("BEGIN IMMEDIATE"));
  return SqlTransaction(file);
}

SqlTransaction::~SqlTransaction() {
  // A rollback that fails leaves nothing to do: the next BEGIN says so.
  if (file_ != nullptr) file_->Run("ROLLBACK").IgnoreError();
}

absl::Status SqlTransaction::Commit() {
  RETURN_IF_ERROR(file_->Run("COMMIT"));
  file_ = nullptr;
  return absl::OkStatus();
}

}  // namespace taas::dashboard
