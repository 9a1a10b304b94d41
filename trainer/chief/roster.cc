#include "trainer/chief/roster.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "trainer/cluster/gpu_report.h"
#include "trainer/retry/try_on.h"

namespace taas {
namespace {

// Of what a replica says of its data: longer than any.
constexpr size_t kShownDataMax = 1'000;

// What is no share of anything is not shown.
std::optional<RankShares> SharesOf(const wire::Report& report) {
  if (!report.has_shares()) return std::nullopt;
  const auto share = [](double value) { return value >= 0 ? std::min(value, 1.0) : 0; };
  return RankShares{.compute = share(report.shares().compute()),
                    .wait = share(report.shares().wait()),
                    .exchange = share(report.shares().exchange()),
                    .hidden = share(report.shares().hidden()),
                    .bytes_per_step = std::max<int64_t>(0, report.shares().bytes_per_step())};
}

}  // namespace

Roster::Roster(Options options)
    : options_(std::move(options)),
      membership_(options_.job, options_.config_hash, options_.cluster, options_.silence) {}

// Of a caller that membership has no objection to for other reasons, which it tells itself.
Admittance Roster::CheckData(const wire::JoinRequest& request) const {
  const wire::Identity& from = request.identity();
  const std::string& mine = options_.data_identity;
  const std::string& theirs = request.data_identity();
  if (theirs.empty() || mine.empty() || theirs == mine ||
      from.job_uid() != options_.job.uid || from.attempt() != options_.job.attempt ||
      request.config_hash() != options_.config_hash) {
    return {};
  }
  return {Admittance::Verdict::kRefused,
          Caller(from).replica.name() + " has other training data than the chief: it has " +
              theirs.substr(0, kShownDataMax) + "; the chief has " + mine +
              ". All replicas need the same files; where one sees a list that is out of date, "
              "start the job again",
          {}};
}

Admittance Roster::Join(const wire::JoinRequest& request, Clock::Time now) {
  Admittance verdict = CheckData(request);
  if (verdict.verdict != Admittance::Verdict::kAccepted) return verdict;
  const Caller caller(request.identity());
  verdict = membership_.Join({{request.identity().job_uid(), request.identity().attempt()},
                              caller.replica,
                              caller.incarnation,
                              request.config_hash(),
                              request.bulk_address()},
                             now);
  if (verdict.verdict != Admittance::Verdict::kAccepted) return verdict;
  if (verdict.replaced) GiveUp(caller.replica, *verdict.replaced);
  peers_[caller.replica] = {};
  ForgetPeers();
  return verdict;
}

void Roster::Report(const Caller& caller, const wire::Report& report) {
  peers_[caller.replica].report = Bounded(report);
}

void Roster::Leave(const Caller& caller, bool done) {
  const Membership::Member* const member = Find(caller);
  const bool news = member != nullptr && !member->left;
  membership_.Leave(caller.replica, caller.incarnation);
  if (news && !done) GiveUp(caller.replica, caller.incarnation);
}

const Membership::Member* Roster::Find(const Caller& caller) const {
  const Membership::Member* const member = membership_.Find(caller.replica);
  return member != nullptr && member->incarnation == caller.incarnation ? member : nullptr;
}

std::vector<ReplicaId> Roster::Sweep(Clock::Time now) {
  std::vector<ReplicaId> silent;
  for (const Membership::Member& member : membership_.Sweep(now)) {
    GiveUp(member.replica, member.incarnation);
    if (options_.cluster.rank(member.replica) >= 0) silent.push_back(member.replica);
  }
  ForgetPeers();
  return silent;
}

void Roster::GiveUp(const ReplicaId& replica, const Incarnation& incarnation) {
  if (options_.cluster.rank(replica) < 0) return;
  lost_.push_back({PusherOf(replica, incarnation), replica.name()});
}

void Roster::ForgetPeers() {
  std::erase_if(peers_, [this](const auto& entry) { return Find(entry.first) == nullptr; });
}

Pusher Roster::PusherOf(const ReplicaId& replica, const Incarnation& incarnation) const {
  return {static_cast<uint32_t>(options_.cluster.rank(replica)),
          static_cast<uint32_t>(incarnation.pod), incarnation.start};
}

std::set<Pusher> Roster::Training() const {
  std::set<Pusher> pushers = {self()};
  for (const auto& [replica, member] : membership_.members()) {
    const bool here = !member.lost && !member.left;
    if (here && options_.cluster.rank(replica) >= 0) {
      pushers.insert(PusherOf(replica, member.incarnation));
    }
  }
  return pushers;
}

void Roster::Fenced(const Pusher& pusher) {
  std::erase_if(lost_, [&](const Lost& entry) { return entry.pusher == pusher; });
}

void Roster::LetGo(const std::map<ReplicaId, Incarnation>& going) {
  for (const auto& [replica, incarnation] : going) membership_.Leave(replica, incarnation);
}

bool Roster::AllLeft() const {
  // Who has not joined yet (the job was short, or this chief came only for the end) would else look
  // for a chief that is gone.
  return membership_.members().size() >= options_.cluster.size() - 1 &&
         std::ranges::all_of(membership_.members(), [](const auto& entry) {
           return entry.second.left || entry.second.lost;
         });
}

std::string Roster::DescribeMissing(const std::vector<ReplicaId>& missing, Clock::Time now) {
  std::string text;
  for (const ReplicaId& replica : missing) {
    const Membership::Member* const member = Find(replica);
    const std::string& error = probe_errors_[replica];
    const Clock::Time since =
        member != nullptr ? member->heard : missing_since_.try_emplace(replica, now).first->second;
    text += (text.empty() ? "waiting for " : "; ") + replica.name() + " at " +
            options_.cluster.address(replica) + " (" +
            (member != nullptr ? "silent for " : "has not joined for ") + SecondsOf(now - since) +
            (error.empty() ? "" : ", " + error) + ")";
  }
  return text;
}

PeerStatus Roster::PeerOf(const ReplicaId& replica, const std::string& address,
                          const Clock& clock) const {
  PeerStatus peer{.role = replica.role, .index = replica.index, .address = address};
  const Membership::Member* const member = Find(replica);
  if (member == nullptr) {
    peer.state = "Missing";
    const auto error = probe_errors_.find(replica);
    if (error != probe_errors_.end()) peer.error = error->second;
    return peer;
  }
  const auto found = peers_.find(replica);
  const wire::Report report = found == peers_.end() ? wire::Report() : found->second.report;
  peer.state = member->lost ? "Lost" : member->left ? "Left" : "Joined";
  peer.error = member->lost ? "silent for more than " + SecondsOf(options_.silence)
                            : report.message();
  peer.bytes = report.bytes();
  if (peer.state == "Joined") {
    peer.gpus = GpusOf(report);
    peer.shares = SharesOf(report);
  }
  const auto ago = std::chrono::duration_cast<Clock::WallTime::duration>(
      clock.Now() - (member->lost ? member->heard : member->joined));
  peer.since = FormatRfc3339(clock.WallNow() - ago);
  if (!member->bulk_address.empty()) peer.address = member->bulk_address;
  return peer;
}

std::vector<PeerStatus> Roster::Peers(const Clock& clock) const {
  std::map<ReplicaId, std::string> addresses;
  for (const auto& [role, list] : options_.cluster.addresses) {
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      addresses[{role, i}] = list[static_cast<size_t>(i)];
    }
  }
  // Workers that were added later are in nobody's list.
  for (const auto& [replica, member] : membership_.members()) addresses[replica];
  addresses.erase(options_.cluster.self);
  std::vector<PeerStatus> peers;
  for (const auto& [replica, address] : addresses) {
    peers.push_back(PeerOf(replica, address, clock));
  }
  return peers;
}

}  // namespace taas
