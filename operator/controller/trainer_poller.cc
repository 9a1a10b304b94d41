#include "operator/controller/trainer_poller.h"

#include <algorithm>
#include <utility>

#include "operator/plan/replicas.h"

namespace taas {
namespace {

using std::chrono::seconds;

constexpr seconds kPollEvery{5};
// A fresh chief of the bundled trainer answers soon, and short jobs want to be seen.
constexpr seconds kFirstPoll{1};
constexpr int kFirstPolls = 3;
constexpr int kSilentPolls = 6;
// Whoever does not answer and comes late is still found.
constexpr seconds kSilentPollEvery{60};

seconds DelayAfter(int polls, int silent, bool bundled) {
  // Own images need not have such a page, and most have none: 10 s, 20 s, 40 s, 60 s.
  const int doublings = std::min(silent, kSilentPolls);
  if (!bundled) return std::min(kPollEvery * (1 << doublings), kSilentPollEvery);
  if (polls <= kFirstPolls) return kFirstPoll;
  return silent < kSilentPolls ? kPollEvery : kSilentPollEvery;
}

std::optional<TrainerReport> ReportIn(const absl::StatusOr<std::string>& body,
                                      const std::string& uid) {
  if (!body.ok()) return std::nullopt;
  std::optional<TrainerReport> report = ParseTrainerReport(*body);
  // On loopback a port may have changed hands.
  if (report.has_value() && !report->uid.empty() && report->uid != uid) return std::nullopt;
  return report;
}

}  // namespace

TrainerPoller::TrainerPoller(Executor& executor, PollTransport& transport, ClusterView& view,
                             AddressOptions addresses, OnReport on_report)
    : executor_(executor),
      transport_(transport),
      view_(view),
      addresses_(std::move(addresses)),
      on_report_(std::move(on_report)) {}

TrainerPoller::~TrainerPoller() {
  for (const auto& [key, polled] : jobs_) {
    if (polled.timer != 0) executor_.Cancel(polled.timer);
  }
}

void TrainerPoller::Forget(const std::string& key) {
  const auto found = jobs_.find(key);
  if (found == jobs_.end()) return;
  if (found->second.timer != 0) executor_.Cancel(found->second.timer);
  jobs_.erase(found);
}

std::optional<TrainerReport> TrainerPoller::ReportOf(const std::string& key) const {
  const auto found = jobs_.find(key);
  return found == jobs_.end() ? std::nullopt : found->second.report;
}

void TrainerPoller::Follow(const std::string& key, const Job& job, const JobStatus& status) {
  const bool may_train =
      status.state == JobState::kRunning || status.state == JobState::kRestarting;
  const bool over = status.state == JobState::kSucceeded || status.state == JobState::kFailed ||
                    status.state == JobState::kSuspended;
  if (over) return Forget(key);
  if (!may_train) return;
  if (jobs_[key].uid != job.meta.uid) Forget(key);
  Polled& polled = jobs_[key];
  polled.uid = job.meta.uid;
  if (polled.timer != 0 || polled.under_way) return;
  const auto delay = DelayAfter(++polled.polls, polled.silent, job.spec.bundled_trainer);
  polled.timer = executor_.PostAfter(delay, [this, key, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) Poll(key);
  });
}

void TrainerPoller::Poll(const std::string& key) {
  const auto found = jobs_.find(key);
  const auto job = view_.FindJob(key);
  if (found == jobs_.end() || job == nullptr) return;
  Polled& polled = found->second;
  polled.timer = 0;
  const auto main = MainReplica(job->spec);
  if (!main.has_value() || !job->ledger.has_value()) return;
  const AddressBook addresses(*job, *job->ledger, addresses_);
  for (const auto& pod : view_.PodsOf(*job)) {
    if (pod->owner_uid != job->meta.uid || pod->role != main->first || pod->index != main->second ||
        pod->phase != PodPhase::kRunning) {
      continue;
    }
    const std::string host = addresses.loopback() ? "127.0.0.1" : pod->ip;
    if (host.empty()) break;
    polled.under_way = true;
    return transport_.Get(host, addresses.StatusPortOf(main->first, main->second), "/status",
                          [this, key, uid = job->meta.uid, alive = std::weak_ptr<bool>(alive_)](
                              absl::StatusOr<std::string> body) {
                            if (!alive.expired()) OnPolled(key, uid, body);
                          });
  }
  // The main replica does not run: whoever sees it run again schedules the next poll.
  polled.silent = 0;
  polled.report.reset();
}

void TrainerPoller::OnPolled(const std::string& key, const std::string& uid,
                             const absl::StatusOr<std::string>& body) {
  const auto found = jobs_.find(key);
  if (found == jobs_.end() || found->second.uid != uid) return;
  Polled& polled = found->second;
  polled.under_way = false;
  const bool answered_before = polled.report.has_value();
  polled.report = ReportIn(body, uid);
  const bool answered = polled.report.has_value();
  polled.silent = answered ? 0 : polled.silent + 1;
  const auto job = view_.FindJob(key);
  if (job != nullptr) Follow(key, *job, job->status);
  // An image that has no such page is not planned anew each time it does not answer.
  if (answered || answered_before) on_report_(key);
}

}  // namespace taas
