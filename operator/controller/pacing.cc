#include "operator/controller/status_pacing.h"

#include <algorithm>

#include "operator/api/job_codec.h"
#include "operator/plan/limits.h"

namespace taas {
namespace {

// Replicas start together: their counts are written together, and with what follows from the last
// of them.
constexpr std::chrono::milliseconds kStatusGathering{300};
constexpr std::chrono::milliseconds kStatusSpacing{1000};
constexpr std::chrono::seconds kProgressSpacing{10};

bool OnlyProgressDiffers(const Job& job, JobStatus wanted, const KeptFields& kept) {
  wanted.progress = job.status.progress;
  return !StatusDiffers(job, wanted, kept);
}

bool IsUrgent(const JobStatus& before, const JobStatus& after, const KeptFields& kept) {
  // Where these are dropped, what stands there is no news of them.
  if (kept.Keeps("state") && before.state != after.state) return true;
  if (kept.Keeps("restarts") && before.restarts != after.restarts) return true;
  if (before.conditions.size() != after.conditions.size()) return true;
  for (size_t i = 0; i < before.conditions.size(); ++i) {
    if (before.conditions[i].type != after.conditions[i].type ||
        before.conditions[i].status != after.conditions[i].status) {
      return true;
    }
  }
  return before.completion_time != after.completion_time;
}

// While the others end after the main replica: until the outcome, with which their counts are
// written.
Clock::Duration UntilOutcome(const Job& job, Clock::WallTime now) {
  if (!job.ledger.has_value() || !job.ledger->finishing_since.has_value()) return {};
  return std::chrono::duration_cast<Clock::Duration>(*job.ledger->finishing_since + kFinishGrace -
                                                     now);
}

}  // namespace

// Encodings compared: what is not written cannot differ to a reader.
bool StatusDiffers(const Job& job, const JobStatus& wanted, const KeptFields& kept) {
  if (job.status == wanted) return false;
  return kept.Of(EncodeStatus(job, job.status)) != kept.Of(EncodeStatus(job, wanted));
}

std::optional<Clock::Duration> StatusDelay(const Job& job, const JobStatus& wanted,
                                           const KeptFields& kept, StatusWrites* writes,
                                           const Clock& clock) {
  if (!StatusDiffers(job, wanted, kept)) {
    writes->waiting_since.reset();
    return std::nullopt;
  }
  if (!writes->any || IsUrgent(job.status, wanted, kept)) return Clock::Duration::zero();
  if (!writes->waiting_since.has_value()) writes->waiting_since = clock.Now();
  const Clock::Duration spacing = OnlyProgressDiffers(job, wanted, kept)
                                      ? Clock::Duration(kProgressSpacing)
                                      : Clock::Duration(kStatusSpacing);
  const Clock::Time due =
      std::max<Clock::Time>(writes->last + spacing, *writes->waiting_since + kStatusGathering);
  return std::max(UntilOutcome(job, clock.WallNow()), due - clock.Now());
}

}  // namespace taas
