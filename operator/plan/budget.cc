#include "operator/plan/budget.h"

#include <algorithm>

#include "operator/plan/replicas.h"

namespace taas {

bool IsDispensable(const Job& job, Role role, int32_t index) {
  if (role == Role::kEvaluator) return true;
  if (role != Role::kWorker || DecidesSuccess(job, role, index)) return false;
  return job.spec.dynamic_worker || IsSurplus(job, role, index);
}

bool CountsForBudget(JobKind kind, RestartCause cause) {
  if (cause == RestartCause::kUserError) return true;
  return kind == JobKind::kTfJob &&
         (cause == RestartCause::kOutOfMemory || cause == RestartCause::kKilled);
}

int32_t UsedBudget(const Job& job, const Ledger& ledger, Role role, int32_t index) {
  if (IsDispensable(job, role, index)) {
    const LedgerReplica* entry = FindReplica(ledger, role, index);
    return entry == nullptr ? 0 : entry->own_restarts;
  }
  int32_t used = 0;
  for (const auto& [cause, count] : ledger.restarts) {
    if (CountsForBudget(job.kind, cause)) used += count;
  }
  for (const auto& [other, entries] : ledger.replicas) {
    for (const auto& [number, entry] : entries) used -= entry.own_restarts;
  }
  return std::max(0, used);
}

bool IsLastTry(const Job& job, const Ledger& ledger, Role role, int32_t index) {
  const std::optional<int32_t> limit = job.spec.backoff_limit;
  if (!limit.has_value()) return false;
  const int32_t used = UsedBudget(job, ledger, role, index);
  // A TFJob fails when its restarts reach the limit, a TrainingJob, as a batch Job, when it would
  // need one more.
  return job.kind == JobKind::kTfJob ? used + 1 >= std::max(1, *limit) : used >= *limit;
}

int32_t OwnRestartsIn(const std::vector<RestartRecord>& history, const Job& job, Role role,
                      int32_t index) {
  return static_cast<int32_t>(
      std::count_if(history.begin(), history.end(), [&](const RestartRecord& record) {
        return record.role == role && record.index == index &&
               CountsForBudget(job.kind, record.cause);
      }));
}

}  // namespace taas
