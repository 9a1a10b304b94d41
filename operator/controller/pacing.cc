#include "operator/controller/pacing.h"

#include <algorithm>
#include <string_view>

#include "operator/api/job_codec.h"
#include "operator/plan/limits.h"

namespace taas {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The whole of it. Gathering is as long as pods of one job lie apart; a second is what a person at
// a screen takes for now; ten are what progress is worth. Five seconds without counts are borne
// where the cluster is busy with something that matters more.
constexpr struct {
  Change change;
  milliseconds gather, spacing, yield;
} kPaces[] = {
    {Change::kAny, milliseconds(0), milliseconds(0), milliseconds(0)},
    {Change::kPodsMove, milliseconds(100), milliseconds(0), milliseconds(0)},
    {Change::kDecision, milliseconds(0), milliseconds(0), milliseconds(0)},
    {Change::kFirstWords, milliseconds(0), milliseconds(0), milliseconds(5'000)},
    {Change::kCounts, milliseconds(300), milliseconds(1'000), milliseconds(5'000)},
    {Change::kProgress, milliseconds(300), milliseconds(10'000), milliseconds(10'000)},
};
// How often whoever yields asks whether it is over.
constexpr milliseconds kYieldCheck{1'000};
// A look takes some microseconds per pod, so that events of a job of any size cost a tenth of a
// processor or so; a job of 10 rests half a millisecond, one of 1,000 fifty.
constexpr microseconds kRestPerPod{50};

// It comes and goes as nodes do, and what follows from it for the job is a change of its state.
constexpr std::string_view kOrdinaryCondition = "Scheduled";

bool OnlyProgressDiffers(const Job& job, JobStatus wanted, const KeptFields& kept) {
  wanted.progress = job.status.progress;
  return !StatusDiffers(job, wanted, kept);
}

// Types and whether they hold, but for the ordinary one.
bool SameConditions(const JobStatus& before, const JobStatus& after) {
  const auto next = [](const std::vector<Condition>& conditions, size_t at) {
    while (at < conditions.size() && conditions[at].type == kOrdinaryCondition) ++at;
    return at;
  };
  const std::vector<Condition>& old = before.conditions;
  const std::vector<Condition>& now = after.conditions;
  size_t i = next(old, 0), k = next(now, 0);
  while (i < old.size() && k < now.size()) {
    if (old[i].type != now[k].type || old[i].status != now[k].status) return false;
    i = next(old, i + 1);
    k = next(now, k + 1);
  }
  return i >= old.size() && k >= now.size();
}

bool IsDecision(const Job& job, const JobStatus& after, const KeptFields& kept) {
  if (!job.unreadable_status.empty()) return true;
  const JobStatus& before = job.status;
  // Where these are dropped, what stands there is no news of them.
  if (kept.Keeps("state") && before.state != after.state) return true;
  if (kept.Keeps("restarts") && before.restarts != after.restarts) return true;
  return !SameConditions(before, after) || before.completion_time != after.completion_time;
}

bool IsFirst(const Job& job) {
  return job.unreadable_status.empty() && job.status.conditions.empty();
}

Change ChangeOf(const Job& job, const JobStatus& wanted, const KeptFields& kept,
                const StatusWrites& writes) {
  const bool first = IsFirst(job);
  if (first && wanted.state == JobState::kPending) return Change::kFirstWords;
  if (first || IsDecision(job, wanted, kept)) return Change::kDecision;
  // Of a leader's that has just begun.
  if (!writes.any) return Change::kFirstWords;
  // That it trains at all is told as counts are: a job of seconds has nothing else to show.
  const bool progress = job.status.progress.has_value() && OnlyProgressDiffers(job, wanted, kept);
  return progress ? Change::kProgress : Change::kCounts;
}

// While the others end after the main replica: until the outcome, with which their counts are
// written.
Clock::Duration UntilOutcome(const Job& job, Clock::WallTime now) {
  if (!job.ledger.has_value() || !job.ledger->finishing_since.has_value()) return {};
  return std::chrono::duration_cast<Clock::Duration>(*job.ledger->finishing_since + kFinishGrace -
                                                     now);
}

}  // namespace

Pace PaceOf(Change change) {
  for (const auto& row : kPaces) {
    if (row.change == change) return {row.gather, row.spacing, row.yield};
  }
  return {};
}

Clock::Duration RestAfter(size_t pods) { return kRestPerPod * pods; }

// Encodings compared: what is not written cannot differ to a reader.
bool StatusDiffers(const Job& job, const JobStatus& wanted, const KeptFields& kept) {
  if (!job.unreadable_status.empty()) return true;
  if (job.status == wanted) return false;
  return kept.Of(EncodeStatus(job, job.status)) != kept.Of(EncodeStatus(job, wanted));
}

std::optional<StatusTurn> TurnOfStatus(const Job& job, const JobStatus& wanted,
                                       const KeptFields& kept, const Circumstances& now,
                                       StatusWrites* writes) {
  if (!StatusDiffers(job, wanted, kept)) {
    writes->waiting_since.reset();
    return std::nullopt;
  }
  const Change change = ChangeOf(job, wanted, kept, *writes);
  if (change == Change::kDecision) return StatusTurn{.decision = true};
  const Clock::Time time = now.clock.Now();
  if (!writes->waiting_since.has_value()) writes->waiting_since = time;
  const Pace pace = PaceOf(change);
  Clock::Time due = *writes->waiting_since + pace.gather;
  if (writes->any) due = std::max(due, writes->last + pace.spacing);
  if (now.launching) {
    due = std::max(due, std::min(time + kYieldCheck, *writes->waiting_since + pace.yield));
  }
  Clock::Duration delay = due - time;
  if (writes->any) delay = std::max(delay, UntilOutcome(job, now.clock.WallNow()));
  return StatusTurn{.delay = delay};
}

}  // namespace taas
