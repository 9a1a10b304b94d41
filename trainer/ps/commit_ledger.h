// A test's record of what each process of a job has applied: one file per process start, one line
// of JSON per record, each written by one call before anything that follows from it is said.
//
// A test hook: with TAAS_TEST_LEDGER_DIR in the environment, parameter servers and the chief write
// to that directory; ledger_check.h compares. Costs a system call per step, so never on by itself.
//
// Ownership: owns its file. Threads: one at a time. Errors: Open: those of the disk; a record that
// cannot be written ends the process (CHECK): a ledger with a hole would accuse the innocent.
//
//   ASSIGN_OR_RETURN(auto ledger, CommitLedger::FromEnvironment("ps-0", start));
//   Shard shard({.record = ledger.get()});   // null without the variable

#ifndef TRAINER_PS_COMMIT_LEDGER_H_
#define TRAINER_PS_COMMIT_LEDGER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/ps/commit_record.h"
#include "trainer/ps/ledger_check.h"

namespace taas::ps {

constexpr char kLedgerDirVariable[] = "TAAS_TEST_LEDGER_DIR";

class CommitLedger : public CommitRecord {
 public:
  static absl::StatusOr<std::unique_ptr<CommitLedger>> Open(const std::string& path);
  // Null if the variable is not set. The file is NAME-START.ledger.
  static absl::StatusOr<std::unique_ptr<CommitLedger>> FromEnvironment(const std::string& name,
                                                                       uint64_t start);
  ~CommitLedger() override;

  void OnGeneration(const Generation& generation) override;
  void OnCommit(const Decision& decision) override;

 private:
  explicit CommitLedger(int file) : file_(file) {}
  void Write(std::string line);

  const int file_;
  Generation now_;
};

// The records of one file. A last line without its end is left out: its writer was killed.
absl::StatusOr<std::vector<LedgerRecord>> ParseLedger(std::string_view text);

}  // namespace taas::ps

#endif  // TRAINER_PS_COMMIT_LEDGER_H_
