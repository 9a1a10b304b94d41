#include "localkube/api/database.h"

#include <sqlite3.h>

#include <utility>

#include "operator/base/status.h"

namespace taas::localkube {
namespace {

// The version of the tables below, in the file's user_version. 0 is a new file.
constexpr int kFormat = 1;

// Everything is in memory already and is read here once: enough for the pages on the way to a row.
constexpr char kCacheKb[] = "PRAGMA cache_size = -512";

constexpr char kTables[] =
    "CREATE TABLE objects (resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
    " revision INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (resource, ns, name));"
    "CREATE TABLE last (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL);"
    "INSERT INTO last VALUES (1, 0);"
    "PRAGMA user_version = 1;";

std::string TextAt(sqlite3_stmt* row, int column) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(row, column)));
}

void Bind(sqlite3_stmt* statement, int index, const std::string& text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

void Bind(sqlite3_stmt* statement, int index, uint64_t number) {
  sqlite3_bind_int64(statement, index, static_cast<int64_t>(number));
}

}  // namespace

void Database::CloseStatement::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Database::~Database() {
  put_.reset();
  remove_.reset();
  set_revision_.reset();
  sqlite3_close(db_);
}

absl::Status Database::Error(const std::string& attempt) const {
  const std::string message = attempt + " " + path_ + ": " + sqlite3_errmsg(db_);
  switch (sqlite3_errcode(db_) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::FailedPreconditionError(message + "; another process uses this cluster");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return absl::FailedPreconditionError(message + "; this is not a store of ours, or damaged");
    default:
      return absl::UnavailableError(message);
  }
}

absl::Status Database::Run(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return absl::OkStatus();
  return Error("write the store");
}

absl::StatusOr<Database::Statement> Database::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) != SQLITE_OK) {
    return Error("prepare a statement for");
  }
  return Statement(statement);
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path) {
  sqlite3* db = nullptr;
  const int result = sqlite3_open(path.c_str(), &db);
  std::unique_ptr<Database> database(new Database(path, db));  // Also closes what failed to open.
  if (result != SQLITE_OK) return database->Error("open the store");
  // Exclusive: no shared memory file, and a second process is told so instead of seeing old rows.
  RETURN_IF_ERROR(database->Run("PRAGMA locking_mode = EXCLUSIVE"));
  RETURN_IF_ERROR(database->Run("PRAGMA journal_mode = WAL"));
  RETURN_IF_ERROR(database->Run("PRAGMA synchronous = FULL"));
  RETURN_IF_ERROR(database->Run(kCacheKb));
  RETURN_IF_ERROR(database->Run("BEGIN IMMEDIATE"));
  ASSIGN_OR_RETURN(Statement version, database->Prepare("PRAGMA user_version"));
  sqlite3_step(version.get());
  const int format = sqlite3_column_int(version.get(), 0);
  version.reset();
  if (format != 0 && format != kFormat) {
    return absl::FailedPreconditionError("open the store " + path + ": format " +
                                         std::to_string(format) +
                                         " was written by a newer version of this program");
  }
  if (format == 0) {
    RETURN_IF_ERROR(database->Run(kTables));
  }
  RETURN_IF_ERROR(database->Run("COMMIT"));
  ASSIGN_OR_RETURN(database->put_,
                   database->Prepare("INSERT INTO objects VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT "
                                     "DO UPDATE SET revision = ?4, text = ?5"));
  ASSIGN_OR_RETURN(
      database->remove_,
      database->Prepare("DELETE FROM objects WHERE resource = ?1 AND ns = ?2 AND name = ?3"));
  ASSIGN_OR_RETURN(database->set_revision_, database->Prepare("UPDATE last SET revision = ?1"));
  return database;
}

absl::StatusOr<uint64_t> Database::Load(const std::function<void(Row)>& each) {
  ASSIGN_OR_RETURN(Statement rows,
                   Prepare("SELECT resource, ns, name, revision, text FROM objects"));
  int result = SQLITE_OK;
  while ((result = sqlite3_step(rows.get())) == SQLITE_ROW) {
    Row row;
    row.key = {TextAt(rows.get(), 0), TextAt(rows.get(), 1), TextAt(rows.get(), 2)};
    row.revision = static_cast<uint64_t>(sqlite3_column_int64(rows.get(), 3));
    row.text = std::make_shared<const std::string>(TextAt(rows.get(), 4));
    each(std::move(row));
  }
  if (result != SQLITE_DONE) return Error("read the store");
  ASSIGN_OR_RETURN(Statement last, Prepare("SELECT revision FROM last"));
  if (sqlite3_step(last.get()) != SQLITE_ROW) return Error("read the last revision of");
  return static_cast<uint64_t>(sqlite3_column_int64(last.get(), 0));
}

absl::Status Database::Step(sqlite3_stmt* statement, const char* attempt) {
  const int result = sqlite3_step(statement);
  absl::Status status = result == SQLITE_DONE ? absl::OkStatus() : Error(attempt);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return status;
}

absl::Status Database::WriteRow(const Row& row) {
  sqlite3_stmt* statement = row.text != nullptr ? put_.get() : remove_.get();
  Bind(statement, 1, row.key.resource);
  Bind(statement, 2, row.key.ns);
  Bind(statement, 3, row.key.name);
  if (row.text != nullptr) {
    Bind(statement, 4, row.revision);
    Bind(statement, 5, *row.text);
  }
  return Step(statement, "write an object to");
}

absl::Status Database::Apply(const std::vector<Row>& rows, uint64_t revision) {
  RETURN_IF_ERROR(Run("BEGIN IMMEDIATE"));
  absl::Status status = absl::OkStatus();
  for (const Row& row : rows) {
    status = WriteRow(row);
    if (!status.ok()) break;
  }
  if (status.ok()) {
    Bind(set_revision_.get(), 1, revision);
    status = Step(set_revision_.get(), "write the last revision to");
  }
  if (status.ok()) status = Run("COMMIT");
  // A rollback that fails leaves nothing to do: the next BEGIN says so.
  if (!status.ok()) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

}  // namespace taas::localkube
