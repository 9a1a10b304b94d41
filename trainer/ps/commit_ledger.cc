#include "trainer/ps/commit_ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/hash.h"
#include "third_party/json.h"

namespace taas::ps {
namespace {

using Json = nlohmann::json;

}  // namespace

absl::StatusOr<std::unique_ptr<CommitLedger>> CommitLedger::Open(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) {
    return absl::FailedPreconditionError("open ledger " + path + ": " + std::strerror(errno));
  }
  return std::unique_ptr<CommitLedger>(new CommitLedger(file));
}

absl::StatusOr<std::unique_ptr<CommitLedger>> CommitLedger::FromEnvironment(
    const std::string& name, uint64_t start) {
  const char* dir = std::getenv(kLedgerDirVariable);
  if (dir == nullptr || *dir == '\0') return std::unique_ptr<CommitLedger>();
  return Open(std::string(dir) + "/" + name + "-" + HexOf(start) + ".ledger");
}

CommitLedger::~CommitLedger() { close(file_); }

void CommitLedger::Write(std::string line) {
  line += '\n';
  const ssize_t written = write(file_, line.data(), line.size());
  CHECK(written == static_cast<ssize_t>(line.size())) << "write ledger: " << std::strerror(errno);
}

void CommitLedger::OnGeneration(const Generation& generation) {
  now_ = generation;
  Write(Json{{"generation", generation.generation},
             {"shard", generation.shard},
             {"shards", generation.shards},
             {"begins", generation.step}}
            .dump());
}

void CommitLedger::OnCommit(const Decision& decision) {
  Json pushes = Json::array();
  for (const PushId& push : decision.pushes) {
    pushes.push_back({push.pusher.rank, push.pusher.pod, push.pusher.start, push.sequence,
                      push.batch});
  }
  Write(Json{{"generation", now_.generation},
             {"shard", now_.shard},
             {"step", decision.step},
             {"pushes", std::move(pushes)}}
            .dump());
}

absl::StatusOr<std::vector<LedgerRecord>> ParseLedger(std::string_view text) {
  std::vector<LedgerRecord> records;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    try {
      const Json json = Json::parse(line);
      LedgerRecord record{.generation = json.at("generation"), .shard = json.at("shard")};
      if (json.contains("begins")) {
        record.kind = LedgerRecord::Kind::kBegin;
        record.shards = json.at("shards");
        record.step = json.at("begins");
      } else {
        record.step = json.at("step");
        for (const Json& push : json.at("pushes")) {
          record.pushes.push_back({{push.at(0), push.at(1), push.at(2)}, push.at(3), push.at(4)});
        }
      }
      records.push_back(std::move(record));
    } catch (const Json::exception& error) {
      return absl::InvalidArgumentError("parse ledger line " + std::to_string(records.size() + 1) +
                                        ": " + error.what());
    }
  }
  return records;
}

}  // namespace taas::ps
