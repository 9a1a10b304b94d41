// check_ledgers DIR STEPS AGGREGATE: whether the ledgers of a job's processes (commit_ledger.h)
// tell one whole history of STEPS steps with AGGREGATE batches each. For tests of survival.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "operator/base/file_system.h"
#include "operator/base/status.h"
#include "trainer/ps/commit_ledger.h"
#include "trainer/ps/ledger_check.h"

namespace taas::ps {
namespace {

absl::Status CheckDirectory(const std::string& dir, const LedgerExpectation& expected) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(dir));
  std::vector<std::vector<LedgerRecord>> processes;
  size_t records = 0;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const std::string text, files.ReadAll(dir + "/" + name));
    ASSIGN_OR_RETURN(auto parsed, ParseLedger(text));
    records += parsed.size();
    processes.push_back(std::move(parsed));
  }
  RETURN_IF_ERROR(CheckLedgers(processes, expected));
  std::printf("%lld steps whole, from %zu records of %zu processes\n",
              static_cast<long long>(expected.steps), records, processes.size());
  return absl::OkStatus();
}

}  // namespace
}  // namespace taas::ps

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: check_ledgers DIR STEPS AGGREGATE\n");
    return 2;
  }
  const absl::Status status = taas::ps::CheckDirectory(
      argv[1], {.steps = std::atoll(argv[2]), .aggregate = std::atoi(argv[3])});
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
