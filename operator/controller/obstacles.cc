#include "operator/controller/obstacles.h"

#include <algorithm>
#include <variant>

namespace taas {
namespace {

using std::chrono::seconds;

// How often a refused creation is tried again: quota comes back, an admission rule is changed.
constexpr seconds kRefusedFirst{5};
constexpr seconds kRefusedMax{300};
constexpr int kDoublingsMax = 6;  // 5 s · 2^6 is past the limit.
// How long a foreign object under our name is believed in without looking: its owner may be about
// to take it away.
constexpr seconds kForeignFirst{5};
constexpr seconds kForeignMax{30};

// Before all others: nothing is done without it.
constexpr std::string_view kLedgerSort = "ledger";

std::string SortOf(const Step& step) {
  if (std::holds_alternative<WriteLedger>(step)) return std::string(kLedgerSort);
  if (const auto* create = std::get_if<CreatePod>(&step)) {
    return "pods " + std::string(RoleName(create->pod.role));
  }
  return "step " + std::to_string(step.index());
}

}  // namespace

ServiceView ViewOf(const OwnedObject& service) {
  return {.uid = service.meta.uid,
          .owner_uid = service.owner_uid,
          .owner_kind = service.owner_kind,
          .job = service.job,
          .terminating = service.meta.deletion_time.has_value()};
}

PodGroupView ViewOf(const PodGroup& group) {
  return {.uid = group.meta.uid,
          .resource_version = group.meta.resource_version,
          .owner_uid = group.owner_uid,
          .owner_kind = group.owner_kind,
          .job = group.job,
          .terminating = group.meta.deletion_time.has_value(),
          .min_member = group.min_member,
          .spec = group.spec,
          .phase = group.phase,
          .trouble = group.trouble};
}

const std::string& Obstacles::refusal() const {
  static const std::string none;
  for (const auto& [sort, refusal] : refusals_) {
    if (!refusal.message.empty()) return refusal.message;
  }
  return none;
}

bool Obstacles::ledger_refused() const { return IsRefused(std::string(kLedgerSort)); }

bool Obstacles::Holds(const Step& step) const {
  return ledger_refused() || IsRefused(SortOf(step));
}

bool Obstacles::IsRefused(const std::string& sort) const {
  const auto found = refusals_.find(sort);
  return found != refusals_.end() && !found->second.message.empty();
}

bool Obstacles::Refuse(const Step& step, const WriteResult& result, Clock::Time begun,
                       Clock::Time now) {
  Refusal& refusal = refusals_[SortOf(step)];
  if (refusal.until > begun) return false;
  const int doublings = std::min(refusal.times++, kDoublingsMax);
  refusal.until = now + std::min<seconds>(kRefusedMax, kRefusedFirst * (1 << doublings));
  refusal.message = result.message;
  return true;
}

void Obstacles::Take(const WriteResult& result, Clock::Time now) {
  const int doublings = std::min(foreign_looks_, kDoublingsMax);
  foreign_until_ = now + std::min<seconds>(kForeignMax, kForeignFirst * (1 << doublings));
  if (const auto* pod = std::get_if<Pod>(&result.taken_by)) {
    pods_[pod->meta.name] = *pod;
  } else if (const auto* service = std::get_if<OwnedObject>(&result.taken_by)) {
    services_[service->meta.name] = ViewOf(*service);
  } else if (const auto* group = std::get_if<PodGroup>(&result.taken_by)) {
    pod_group_ = ViewOf(*group);
  }
}

void Obstacles::ForgetRefusal() { refusals_.clear(); }

void Obstacles::Progress(const Step& step) {
  const auto found = refusals_.find(SortOf(step));
  if (found != refusals_.end() && found->second.message.empty()) refusals_.erase(found);
}

void Obstacles::Expire(Clock::Time now) {
  if (foreign_until_ <= now) {
    const bool any = !pods_.empty() || !services_.empty() || pod_group_.has_value();
    foreign_looks_ = any ? foreign_looks_ + 1 : 0;
    pods_.clear();
    services_.clear();
    pod_group_.reset();
  }
  for (auto& [sort, refusal] : refusals_) {
    if (refusal.until <= now) refusal.message.clear();
  }
}

void Obstacles::Complete(Snapshot& snapshot) {
  for (const Pod& pod : snapshot.pods) pods_.erase(pod.meta.name);
  for (const auto& [name, pod] : pods_) snapshot.pods.push_back(pod);
  for (const auto& [name, service] : snapshot.services) services_.erase(name);
  snapshot.services.insert(services_.begin(), services_.end());
  if (snapshot.pod_group.has_value()) pod_group_.reset();
  if (pod_group_.has_value()) snapshot.pod_group = pod_group_;
}

std::optional<Clock::Duration> Obstacles::LookAgainAfter(Clock::Time now) const {
  std::optional<Clock::Duration> after;
  const auto at = [&](Clock::Time until) {
    if (until > now) after = std::min(after.value_or(until - now), until - now);
  };
  at(foreign_until_);
  for (const auto& [sort, refusal] : refusals_) at(refusal.until);
  return after;
}

}  // namespace taas
