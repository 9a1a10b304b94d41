#include "trainer/cluster/membership.h"

#include <algorithm>
#include <utility>

#include "trainer/retry/try_on.h"

namespace taas {
namespace {

using Verdict = Admittance::Verdict;

Admittance Refused(std::string sentence) { return {Verdict::kRefused, std::move(sentence), {}}; }

}  // namespace

std::optional<Admittance> Membership::CheckJob(const JoinCall& call) const {
  if (call.job.uid != job_.uid) {
    // A port may have belonged to another job a moment ago: the caller's own chief is still to
    // come.
    return Admittance{Verdict::kLater, "this is the chief of another job", {}};
  }
  if (call.job.attempt > job_.attempt) {
    return Admittance{Verdict::kLater,
                      "this chief is of attempt " + std::to_string(job_.attempt) + ", not of " +
                          std::to_string(call.job.attempt),
                      {}};
  }
  if (call.job.attempt < job_.attempt) {
    return Refused("attempt " + std::to_string(call.job.attempt) +
                   " is over, the job is at attempt " + std::to_string(job_.attempt));
  }
  const int count = cluster_.count(call.replica.role);
  // The chief's TF_CONFIG is as old as the chief: workers may have been added since.
  const bool open_ended = call.replica.role == "worker" && call.replica.index <= kIndexMax;
  if (call.replica.index < 0 || (call.replica.index >= count && !open_ended)) {
    return Refused(call.replica.name() + " is not in the chief's TF_CONFIG, which has " +
                   std::to_string(count) + " of role " + call.replica.role);
  }
  if (call.replica == cluster_.self) {
    return Refused(call.replica.name() + " is the chief itself: two processes have one identity");
  }
  if (call.config_hash != config_hash_) {
    return Refused("the configuration of " + call.replica.name() +
                   " is not the chief's: all replicas need the same TAAS_TRAINER");
  }
  if (call.incarnation.pod < 0 || call.incarnation.pod > kPodMax) {
    return Refused("no pod of " + call.replica.name() + " has the number " +
                   std::to_string(call.incarnation.pod));
  }
  if (call.bulk_address.size() > kAddressBytesMax) {
    return Refused("the address of " + call.replica.name() + " has " +
                   std::to_string(call.bulk_address.size()) + " bytes, more than any has");
  }
  return CheckAdded(call);
}

bool Membership::IsListed(const ReplicaId& replica) const {
  return replica.index < cluster_.count(replica.role);
}

std::optional<Admittance> Membership::CheckAdded(const JoinCall& call) const {
  if (IsListed(call.replica) || Find(call.replica) != nullptr) return std::nullopt;
  const auto added = std::ranges::count_if(members_, [this](const auto& entry) {
    return !IsListed(entry.first) && !entry.second.lost && !entry.second.left;
  });
  if (static_cast<size_t>(added) < kAddedMax) return std::nullopt;
  return Admittance{Verdict::kLater,
                    std::to_string(kAddedMax) + " workers are here that are not in the chief's "
                    "TF_CONFIG, and no more are admitted",
                    {}};
}

void Membership::ForgetGone() {
  std::vector<const Member*> gone;
  for (const auto& [replica, member] : members_) {
    if (!IsListed(replica) && (member.lost || member.left)) gone.push_back(&member);
  }
  if (gone.size() <= kAddedGoneMax) return;
  std::ranges::sort(gone, {}, [](const Member* member) { return member->heard; });
  gone.resize(gone.size() - kAddedGoneMax);
  for (const Member* member : gone) {
    const ReplicaId replica = member->replica;
    replaced_starts_.erase(replica);
    silent_starts_.erase(replica);
    members_.erase(replica);
  }
}

void Membership::Starts::Add(uint64_t start) {
  starts_.push_back(start);
  if (starts_.size() > kStartsMax) starts_.pop_front();
}

bool Membership::Starts::Has(uint64_t start) const {
  return std::ranges::find(starts_, start) != starts_.end();
}

Admittance Membership::Join(const JoinCall& call, Clock::Time now) {
  if (auto refused = CheckJob(call)) return *std::move(refused);
  Admittance verdict;
  Starts& replaced = replaced_starts_[call.replica];
  const auto found = members_.find(call.replica);
  if (replaced.Has(call.incarnation.start)) {
    return Refused("a later process has taken the place of " + call.replica.name());
  }
  if (silent_starts_[call.replica].Has(call.incarnation.start)) {
    return {Verdict::kLater,
            call.replica.name() + " was silent for more than " + SecondsOf(silence_) +
                " and this start was given up; it can join under a new one",
            {}};
  }
  if (found != members_.end() && found->second.incarnation != call.incarnation) {
    const Member& present = found->second;
    if (call.incarnation.pod < present.incarnation.pod) {
      return Refused("pod " + std::to_string(call.incarnation.pod) + " of " + call.replica.name() +
                     " was replaced by pod " + std::to_string(present.incarnation.pod));
    }
    replaced.Add(present.incarnation.start);
    verdict.replaced = present.incarnation;
  }
  Member& member = members_[call.replica];
  const bool again = member.incarnation == call.incarnation;
  member = {.replica = call.replica,
            .incarnation = call.incarnation,
            .bulk_address = call.bulk_address,
            .joined = again ? member.joined : now,
            .heard = now};
  return verdict;
}

Membership::Standing Membership::Hear(const ReplicaId& replica, const Incarnation& incarnation,
                                      Clock::Time now) {
  const auto found = members_.find(replica);
  if (found == members_.end()) return Standing::kUnknown;
  Member& member = found->second;
  if (member.incarnation == incarnation) {
    if (member.lost) return Standing::kUnknown;
    member.heard = now;
    return Standing::kMember;
  }
  const auto replaced = replaced_starts_.find(replica);
  const bool known_old =
      replaced != replaced_starts_.end() && replaced->second.Has(incarnation.start);
  return known_old || incarnation.pod < member.incarnation.pod ? Standing::kReplaced
                                                               : Standing::kUnknown;
}

std::vector<Membership::Member> Membership::Sweep(Clock::Time now) {
  std::vector<Member> lost;
  for (auto& [replica, member] : members_) {
    if (member.lost || member.left || now - member.heard <= silence_) continue;
    member.lost = true;
    // It was given up with all that it held, so it comes back, if at all, as another start.
    silent_starts_[replica].Add(member.incarnation.start);
    lost.push_back(member);
  }
  ForgetGone();
  return lost;
}

void Membership::Leave(const ReplicaId& replica, const Incarnation& incarnation) {
  const auto found = members_.find(replica);
  if (found != members_.end() && found->second.incarnation == incarnation) {
    found->second.left = true;
  }
  ForgetGone();
}

const Membership::Member* Membership::Find(const ReplicaId& replica) const {
  const auto found = members_.find(replica);
  return found == members_.end() ? nullptr : &found->second;
}

std::vector<ReplicaId> Membership::Missing(const std::string& role) const {
  std::vector<ReplicaId> missing;
  for (int i = 0; i < cluster_.count(role); ++i) {
    const ReplicaId replica{role, i};
    const Member* member = Find(replica);
    const bool here = member != nullptr && !member->lost && !member->left;
    if (replica != cluster_.self && !here) missing.push_back(replica);
  }
  return missing;
}

}  // namespace taas
