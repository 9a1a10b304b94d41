#include "cli/pod_follow.h"

#include <algorithm>
#include <utility>

#include "cli/job_ref.h"
#include "operator/kube/api_path.h"
#include "operator/kube/pod_decoder.h"

namespace taas {
namespace {

// A run of the main container is known: what comes before it has done its work.
bool HasLog(const Pod& pod) {
  return pod.started && pod.phase != PodPhase::kPending && pod.init == nullptr;
}

}  // namespace

PodFollow::PodFollow(KubeTransport& transport, Executor& executor, Random& random, Options options,
                     Calls calls)
    : transport_(transport),
      executor_(executor),
      options_(std::move(options)),
      calls_(std::move(calls)),
      reflector_(transport, executor, random, pods_, DecodePod,
                 {.path = CollectionPath(Resource::kPods, options_.ns),
                  .field_selector = "metadata.name=" + options_.pod}) {}

PodFollow::~PodFollow() {
  for (const Executor::TimerId timer : {open_timer_, silence_timer_}) {
    if (timer != 0) executor_.Cancel(timer);
  }
}

void PodFollow::Start() {
  pods_.set_on_change([this](const auto&, const std::shared_ptr<const Pod>& after) {
    after == nullptr ? End(WasDeleted()) : OnPod(after);
  });
  reflector_.set_on_synced([this] {
    if (pod_ == nullptr) End(WasDeleted());
  });
  // Who may not list would wait for ever.
  reflector_.set_on_failure([this](const absl::Status& why) {
    if (IsRefused(why) && !reflector_.synced()) End(why);
  });
  reflector_.Start();
}

absl::Status PodFollow::WasDeleted() const {
  return absl::NotFoundError("pod " + options_.ns + "/" + options_.pod +
                             " was deleted before its end");
}

void PodFollow::OnPod(const std::shared_ptr<const Pod>& pod) {
  const bool had_stopped = pod_ != nullptr && HasStopped(*pod_);
  pod_ = pod;
  calls_.changed(*pod);
  if (log_ == nullptr && HasLog(*pod)) {
    log_ = std::make_unique<ContainerLog>(
        transport_, executor_.clock(),
        ContainerLog::Options{.ns = options_.ns,
                              .pod = options_.pod,
                              .container = options_.container,
                              .since_time = "",
                              .tail_lines = ""},
        calls_.print, [this] { OnLogEnded(); });
    log_->Open();
  } else if (log_ != nullptr && open_timer_ != 0 && HasStopped(*pod)) {
    // Its log ended before this news came: what is left of it is all there.
    executor_.Cancel(std::exchange(open_timer_, 0));
    log_->Open();
  }
  if (HasStopped(*pod) && !had_stopped) OnStopped();
}

void PodFollow::OnStopped() {
  if (log_ == nullptr) return End(*pod_);  // It came to nothing.
  stopped_at_ = executor_.clock().Now();
  LookWhetherSilent();
}

// A server that does not end the log of a pod that has stopped keeps nobody.
void PodFollow::LookWhetherSilent() {
  const Clock::Time silent_at = std::max(stopped_at_, log_->heard()) + ContainerLog::kAnswer;
  const Clock::Time now = executor_.clock().Now();
  if (now >= silent_at) return End(*pod_);
  silence_timer_ = executor_.PostAfter(silent_at - now, [this] {
    silence_timer_ = 0;
    LookWhetherSilent();
  });
}

void PodFollow::OnLogEnded() {
  const bool given_up = log_->failures() >= ContainerLog::kFailuresMax;
  if (HasStopped(*pod_) && (log_->read_whole() || given_up)) return End(*pod_);
  // The stream is given up from a task of its own: this is a call of it.
  open_timer_ = executor_.PostAfter(ContainerLog::kAgain, [this] {
    open_timer_ = 0;
    log_->Open();
  });
}

void PodFollow::End(const absl::StatusOr<Pod>& result) {
  if (calls_.done == nullptr) return;
  std::exchange(calls_.done, nullptr)(result);
}

}  // namespace taas
