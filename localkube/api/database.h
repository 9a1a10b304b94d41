// The store's file: objects and the last revision in SQLite, and nothing about what they mean.
//
// WAL with synchronous=FULL: a transaction that Apply returned from is on the disk. One process
// holds the
// file at a time.
//
// Ownership: owns the connection. Threads: one at a time. Errors: Unavailable with SQLite's words
// and the
// path; FailedPrecondition if the file is not ours or another process holds it.
//
//   ASSIGN_OR_RETURN(auto database, Database::Open(dir + "/store.db"));
//   RETURN_IF_ERROR(database->Apply({{.key = key, .revision = 7, .text = "{}"}}, 7));

#ifndef LOCALKUBE_API_DATABASE_H_
#define LOCALKUBE_API_DATABASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "localkube/api/store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace taas::localkube {

class Database {
 public:
  struct Row {
    StoreKey key;
    uint64_t revision = 0;
    StoreText text;  // Null: the row is removed.
  };

  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path);
  ~Database();

  // All rows, in no order; returns the last revision.
  absl::StatusOr<uint64_t> Load(const std::function<void(Row)>& each);
  // All of it or nothing.
  absl::Status Apply(const std::vector<Row>& rows, uint64_t revision);

 private:
  struct CloseStatement {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

  Database(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}
  absl::Status Error(const std::string& attempt) const;
  absl::Status Run(const char* sql);
  absl::StatusOr<Statement> Prepare(const char* sql);
  absl::Status Step(sqlite3_stmt* statement, const char* attempt);
  absl::Status WriteRow(const Row& row);

  const std::string path_;
  sqlite3* const db_;
  Statement put_;
  Statement remove_;
  Statement set_revision_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_DATABASE_H_
