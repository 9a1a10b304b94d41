#include "trainer/cluster/membership.h"

#include <utility>

namespace taas {
namespace {

using Verdict = Admittance::Verdict;

Admittance Refused(std::string sentence) { return {Verdict::kRefused, std::move(sentence), {}}; }

}  // namespace

std::optional<Admittance> Membership::CheckJob(const JoinCall& call) const {
  if (call.job.uid != job_.uid) {
    // A port may have belonged to another job a moment ago: the caller's own chief is still to
    // come.
    return Admittance{Verdict::kLater,
                      "this is the chief of job uid " + job_.uid + ", not of " + call.job.uid,
                      {}};
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
  const bool open_ended = call.replica.role == "worker";
  if (call.replica.index < 0 || (call.replica.index >= count && !open_ended)) {
    return Refused(call.replica.name() + " is not in the chief's TF_CONFIG, which has " +
                   std::to_string(count) + " of role " + call.replica.role);
  }
  if (call.replica == cluster_.self) {
    return Refused(call.replica.name() + " is the chief itself: two processes have one identity");
  }
  if (call.config_hash != config_hash_) {
    return Refused("the configuration of " + call.replica.name() + " (hash " + call.config_hash +
                   ") is not the chief's (" + config_hash_ +
                   "): all replicas need the same TAAS_TRAINER");
  }
  return std::nullopt;
}

Admittance Membership::Join(const JoinCall& call, Clock::Time now) {
  if (auto refused = CheckJob(call)) return *std::move(refused);
  Admittance verdict;
  std::set<uint64_t>& replaced = replaced_starts_[call.replica];
  const auto found = members_.find(call.replica);
  if (replaced.count(call.incarnation.start) != 0) {
    return Refused("a later process has taken the place of " + call.replica.name());
  }
  if (silent_starts_[call.replica].count(call.incarnation.start) != 0) {
    return {Verdict::kLater,
            call.replica.name() + " was silent for more than 10 s and this start was given up; "
                                  "it can join under a new one",
            {}};
  }
  if (found != members_.end() && found->second.incarnation != call.incarnation) {
    const Member& present = found->second;
    if (call.incarnation.pod < present.incarnation.pod) {
      return Refused("pod " + std::to_string(call.incarnation.pod) + " of " + call.replica.name() +
                     " was replaced by pod " + std::to_string(present.incarnation.pod));
    }
    replaced.insert(present.incarnation.start);
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
      replaced != replaced_starts_.end() && replaced->second.count(incarnation.start) != 0;
  return known_old || incarnation.pod < member.incarnation.pod ? Standing::kReplaced
                                                               : Standing::kUnknown;
}

std::vector<Membership::Member> Membership::Sweep(Clock::Time now) {
  std::vector<Member> lost;
  for (auto& [replica, member] : members_) {
    if (member.lost || member.left || now - member.heard <= kSilenceLimit) continue;
    member.lost = true;
    // It was given up with all that it held, so it comes back, if at all, as another start.
    silent_starts_[replica].insert(member.incarnation.start);
    lost.push_back(member);
  }
  return lost;
}

void Membership::Leave(const ReplicaId& replica, const Incarnation& incarnation) {
  const auto found = members_.find(replica);
  if (found != members_.end() && found->second.incarnation == incarnation) {
    found->second.left = true;
  }
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
