#include "trainer/ps/ledger_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "operator/base/status.h"

namespace taas::ps {
namespace {

using Steps = std::vector<std::vector<PushId>>;

// What one generation left behind.
struct Generation {
  int64_t begins = -1;
  int shards = 0;
  std::map<int, Steps> by_shard;  // Of step begins + 1 and on.
};

std::string Name(int64_t generation, int shard) {
  return "generation " + std::to_string(generation) +
         (shard < 0 ? " of the chief" : " of shard " + std::to_string(shard));
}

absl::Status Wrong(const std::string& what) { return absl::FailedPreconditionError(what); }

absl::Status Begin(const LedgerRecord& record, Generation& generation) {
  if (generation.begins < 0) {
    generation.begins = record.step;
    generation.shards = record.shards;
  }
  if (generation.begins != record.step || generation.shards != record.shards) {
    return Wrong(Name(record.generation, record.shard) + " begins at step " +
                 std::to_string(record.step) + ", elsewhere at step " +
                 std::to_string(generation.begins));
  }
  if (record.shard >= 0 && !generation.by_shard.try_emplace(record.shard).second) {
    return Wrong(Name(record.generation, record.shard) + " begins twice");
  }
  return absl::OkStatus();
}

absl::Status Collect(const std::vector<std::vector<LedgerRecord>>& processes,
                     std::map<int64_t, Generation>& generations) {
  for (const auto& records : processes) {
    for (const LedgerRecord& record : records) {
      Generation& generation = generations[record.generation];
      if (record.kind == LedgerRecord::Kind::kBegin) {
        RETURN_IF_ERROR(Begin(record, generation));
        continue;
      }
      const auto found = generation.by_shard.find(record.shard);
      if (found == generation.by_shard.end()) {
        return Wrong(Name(record.generation, record.shard) + " commits before it begins");
      }
      Steps& steps = found->second;
      const int64_t next = generation.begins + static_cast<int64_t>(steps.size()) + 1;
      if (record.step != next) {
        return Wrong(Name(record.generation, record.shard) + " applies step " +
                     std::to_string(record.step) + " where step " + std::to_string(next) +
                     " follows");
      }
      steps.push_back(record.pushes);
    }
  }
  return absl::OkStatus();
}

// Adds to `history` what `generation` made, as far as all of its shards have it.
absl::Status Append(int64_t number, const Generation& generation, Steps& history) {
  if (generation.begins > static_cast<int64_t>(history.size())) {
    return Wrong("generation " + std::to_string(number) + " begins at step " +
                 std::to_string(generation.begins) + ", but what survives before it ends at step " +
                 std::to_string(history.size()));
  }
  history.resize(static_cast<size_t>(generation.begins));
  if (static_cast<int>(generation.by_shard.size()) < generation.shards) return absl::OkStatus();
  const Steps& first = generation.by_shard.begin()->second;
  size_t common = first.size();
  for (const auto& [shard, steps] : generation.by_shard) {
    common = std::min(common, steps.size());
    for (size_t i = 0; i < common; ++i) {
      if (steps[i] == first[i]) continue;
      return Wrong("step " + std::to_string(history.size() + i + 1) + " of " +
                   Name(number, shard) + " is of other pushes than on shard " +
                   std::to_string(generation.by_shard.begin()->first));
    }
  }
  history.insert(history.end(), first.begin(), first.begin() + static_cast<int64_t>(common));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLedgers(const std::vector<std::vector<LedgerRecord>>& processes,
                          const LedgerExpectation& expected) {
  std::map<int64_t, Generation> generations;
  RETURN_IF_ERROR(Collect(processes, generations));
  Steps history;
  for (const auto& [number, generation] : generations) {
    RETURN_IF_ERROR(Append(number, generation, history));
  }
  if (static_cast<int64_t>(history.size()) != expected.steps) {
    return Wrong("the surviving history has " + std::to_string(history.size()) + " steps of " +
                 std::to_string(expected.steps));
  }
  std::map<int64_t, int64_t> step_of;
  for (size_t i = 0; i < history.size(); ++i) {
    const int64_t step = static_cast<int64_t>(i) + 1;
    if (static_cast<int>(history[i].size()) != expected.aggregate) {
      return Wrong("step " + std::to_string(step) + " is of " +
                   std::to_string(history[i].size()) + " batches, not of " +
                   std::to_string(expected.aggregate));
    }
    for (const PushId& push : history[i]) {
      const auto [at, added] = step_of.emplace(push.batch, step);
      if (added) continue;
      return Wrong("batch " + std::to_string(push.batch) + " is part of step " +
                   std::to_string(at->second) + " and of step " + std::to_string(step));
    }
  }
  for (int64_t batch = 0; batch < expected.steps * expected.aggregate; ++batch) {
    if (step_of.count(batch) == 0) {
      return Wrong("batch " + std::to_string(batch) + " is part of no step");
    }
  }
  return absl::OkStatus();
}

}  // namespace taas::ps
