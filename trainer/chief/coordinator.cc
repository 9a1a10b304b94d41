#include "trainer/chief/coordinator.h"

#include <algorithm>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cluster/gpu_report.h"

namespace taas {
namespace {

// How long a heartbeat is held when there is nothing to say; five of them missed and a member is
// lost.
constexpr std::chrono::milliseconds kBeatHold{2'000};
// Lines in the log about replicas that are not admitted.
constexpr Clock::Duration kComplainEvery = std::chrono::seconds(2);
// Of a name that a stranger gives.
constexpr size_t kShownNameMax = 64;
// A parameter server counts generations from 1, a few a minute at the worst. Above this one is not
// believed: the next would be one that frames cannot name.
constexpr int64_t kGenerationBelieved = ps::kGenerationMax / 2;
// Of what a replica says of its data: longer than any.
constexpr size_t kShownDataMax = 1'000;

ReplicaId ReplicaOf(const wire::Identity& identity) { return {identity.role(), identity.index()}; }

Incarnation IncarnationOf(const wire::Identity& identity) {
  return {identity.pod_number(), identity.start()};
}

}  // namespace

Coordinator::Coordinator(const Clock& clock, Options options, StatusBoard& board,
                         TrainingTask& task, SnapshotStore* store)
    : clock_(clock),
      options_(std::move(options)),
      board_(board),
      task_(task),
      store_(store),
      layout_(ps::SplitByBytes(SizesOf(task.session()), options_.cluster.count("ps"))),
      membership_(options_.job, ConfigHash(options_.config), options_.cluster),
      saves_(clock, board,
             {.steps = options_.config.checkpoint_steps,
              .seconds = std::chrono::seconds(options_.config.checkpoint_seconds)}) {}

Coordinator::~Coordinator() {
  std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

Pusher Coordinator::PusherOf(const ReplicaId& replica, const Incarnation& incarnation) const {
  return {static_cast<uint32_t>(options_.cluster.rank(replica)),
          static_cast<uint32_t>(incarnation.pod), incarnation.start};
}

void Coordinator::GiveUp(const ReplicaId& replica, const Incarnation& incarnation) {
  if (options_.cluster.rank(replica) < 0) return;
  lost_.push_back({PusherOf(replica, incarnation), replica.name()});
}

// Of a caller that membership has no objection to for other reasons, which it tells itself.
Admittance Coordinator::CheckData(const wire::JoinRequest& request) const {
  const wire::Identity& from = request.identity();
  const std::string mine = task_.data_identity();
  const std::string& theirs = request.data_identity();
  if (theirs.empty() || mine.empty() || theirs == mine ||
      from.job_uid() != options_.job.uid || from.attempt() != options_.job.attempt ||
      request.config_hash() != ConfigHash(options_.config)) {
    return {};
  }
  return {Admittance::Verdict::kRefused,
          ReplicaOf(from).name() + " has other training data than the chief: it has " +
              theirs.substr(0, kShownDataMax) + "; the chief has " + mine +
              ". All replicas need the same files; where one sees a list that is out of date, "
              "start the job again",
          {}};
}

wire::JoinReply Coordinator::Join(const wire::JoinRequest& request) {
  const wire::Identity& identity = request.identity();
  const ReplicaId replica = ReplicaOf(identity);
  const Incarnation incarnation = IncarnationOf(identity);
  std::lock_guard lock(mutex_);
  Admittance verdict = CheckData(request);
  if (verdict.verdict == Admittance::Verdict::kAccepted) {
    verdict = membership_.Join({{identity.job_uid(), identity.attempt()},
                                replica,
                                incarnation,
                                request.config_hash(),
                                request.bulk_address()},
                               clock_.Now());
  }
  wire::JoinReply reply;
  reply.set_sentence(verdict.sentence);
  switch (verdict.verdict) {
    case Admittance::Verdict::kAccepted: reply.set_verdict(wire::JoinReply::ACCEPTED); break;
    case Admittance::Verdict::kLater: reply.set_verdict(wire::JoinReply::LATER); break;
    case Admittance::Verdict::kRefused: reply.set_verdict(wire::JoinReply::REFUSED); break;
  }
  if (verdict.verdict != Admittance::Verdict::kAccepted) {
    // One that calls again and again, or under ever new names, must not fill the log.
    if (clock_.Now() >= next_complaint_) {
      next_complaint_ = clock_.Now() + kComplainEvery;
      Log(LogLevel::kWarning, "replica not admitted",
          {{"replica", replica.name().substr(0, kShownNameMax)}, {"why", verdict.sentence}});
    }
    return reply;
  }
  if (replica.role == "ps" && request.last_generation() <= kGenerationBelieved) {
    seen_generation_ = std::max(seen_generation_, request.last_generation());
  }
  if (verdict.replaced) GiveUp(replica, *verdict.replaced);
  peers_[replica] = {};
  ForgetPeers();
  Log(LogLevel::kInfo, "replica joined",
      {{"replica", replica.name()},
       {"pod", std::to_string(incarnation.pod)},
       {"address", request.bulk_address()}});
  changed_.notify_all();
  return reply;
}

wire::BeatReply Coordinator::Beat(const wire::BeatRequest& request) {
  const ReplicaId replica = ReplicaOf(request.identity());
  const Incarnation incarnation = IncarnationOf(request.identity());
  const Pusher pusher = PusherOf(replica, incarnation);
  wire::BeatReply reply;
  Lock lock(mutex_);
  Membership::Standing standing = membership_.Hear(replica, incarnation, clock_.Now());
  if (standing == Membership::Standing::kMember) {
    if (request.has_report()) peers_[replica].report = Bounded(request.report());
    const auto news = [&] {
      const Membership::Member* member = membership_.Find(replica);
      return closing_ || done_ || !failure_.ok() || view_ != request.seen_view() ||
             (request.wanted() > 0 && HasWork(pusher)) || member == nullptr ||
             member->incarnation != incarnation || member->left;
    };
    if (request.wants_to_go() && replica.role == "ps") going_[replica] = incarnation;
    changed_.wait_for(lock, kBeatHold, news);
    standing = membership_.Hear(replica, incarnation, clock_.Now());
  }
  if (standing != Membership::Standing::kMember) {
    const bool replaced = standing == Membership::Standing::kReplaced;
    reply.set_verdict(replaced ? wire::BeatReply::SUPERSEDED : wire::BeatReply::JOIN_AGAIN);
    reply.set_sentence(replaced ? "a later process has taken the place of " + replica.name()
                                : "the chief does not know this " + replica.name());
    return reply;
  }
  const bool has_left = HasLeft(replica, incarnation);
  FillWork(request, pusher, has_left, peers_[replica], &reply);
  reply.set_may_go(has_left);
  return reply;
}

bool Coordinator::HasLeft(const ReplicaId& replica, const Incarnation& incarnation) const {
  const Membership::Member* member = membership_.Find(replica);
  return member != nullptr && member->incarnation == incarnation && member->left;
}

void Coordinator::FillWork(const wire::BeatRequest& request, const Pusher& pusher,
                           bool has_left, Peer& peer, wire::BeatReply* reply) {
  reply->set_view(view_);
  reply->set_generation(generation_);
  const bool ready = ready_ && MayTrain(pusher);
  reply->set_ready(ready);
  reply->set_done(done_);
  if (done_) reply->set_step(end_step_);
  reply->set_waiting_for(waiting_for_);
  reply->set_shards_give_batches(aggregate_ > 0);
  for (const std::string& shard : shard_addresses_) reply->add_shards(shard);
  // What is lent to one that has left would come back to nobody.
  if (request.wanted() <= 0 || !ready || aggregate_ > 0 || has_left) return;
  LastGrant& grant = peer.grant;
  // Overtaken on its way by a later call: nobody waits for the answer.
  if (request.lease_sequence() < grant.sequence) return;
  // A call whose answer was lost is repeated: it gets the batches that are lent to it already. If
  // nothing was lent, the next call with this number may get some.
  const bool repeated = grant.sequence == request.lease_sequence() &&
                        grant.generation == generation_ && !grant.batches.empty();
  if (!repeated) {
    const int replicas = static_cast<int>(options_.cluster.training_replicas().size());
    leases_.Finish(pusher);
    grant = {request.lease_sequence(), generation_,
             leases_.Grant(pusher, request.wanted(), replicas)};
  }
  for (const int64_t batch : grant.batches) reply->add_batches(batch);
}

void Coordinator::Leave(const wire::LeaveRequest& request) {
  const ReplicaId replica = ReplicaOf(request.identity());
  const Incarnation incarnation = IncarnationOf(request.identity());
  std::lock_guard lock(mutex_);
  const Membership::Member* member = membership_.Find(replica);
  const bool news = member != nullptr && member->incarnation == incarnation && !member->left;
  membership_.Leave(replica, incarnation);
  // It goes before the end, for whatever reason: others do what it has not done.
  if (news && !done_) GiveUp(replica, incarnation);
  changed_.notify_all();
}

std::set<Pusher> Coordinator::TrainingMembers() const {
  std::set<Pusher> pushers = {PusherOf(options_.cluster.self, options_.self)};
  for (const auto& [replica, member] : membership_.members()) {
    const bool here = !member.lost && !member.left;
    if (here && options_.cluster.rank(replica) >= 0) {
      pushers.insert(PusherOf(replica, member.incarnation));
    }
  }
  return pushers;
}

bool Coordinator::MayTrain(const Pusher& pusher) const {
  return named_.contains(pusher) || static_cast<int32_t>(pusher.rank) < 0;
}

void Coordinator::ForgetPeers() {
  std::erase_if(peers_, [this](const auto& entry) {
    return membership_.Find(entry.first) == nullptr;
  });
}

absl::StatusOr<Work> Coordinator::Next() {
  Work work;
  work.pusher = PusherOf(options_.cluster.self, options_.self);
  Lock lock(mutex_);
  changed_.wait(lock, [&] {
    return closing_ || !failure_.ok() || trained_ || HasWork(work.pusher);
  });
  if (!failure_.ok()) return failure_;
  work.done = closing_ || trained_;
  if (work.done) return work;
  work.generation = generation_;
  work.shards = shard_addresses_;
  work.job = JobKey(options_.job);
  work.from_shards = aggregate_ > 0;
  if (work.from_shards) return work;
  leases_.Finish(work.pusher);
  work.batches = leases_.Grant(work.pusher, kGrantMax,
                               static_cast<int>(options_.cluster.training_replicas().size()));
  return work;
}

bool Coordinator::StillCurrent(int64_t generation, const Pusher&) {
  std::lock_guard lock(mutex_);
  return !closing_ && failure_.ok() && generation == generation_ && !trained_;
}

void Coordinator::Fail(const absl::Status& status) {
  std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = status;
  changed_.notify_all();
}

absl::Status Coordinator::Failure() {
  std::lock_guard lock(mutex_);
  return failure_;
}

std::string Coordinator::DescribeMissing(const std::vector<ReplicaId>& missing) {
  std::string text;
  for (const ReplicaId& replica : missing) {
    const Membership::Member* member = membership_.Find(replica);
    const std::string& error = probe_errors_[replica];
    const Clock::Time now = clock_.Now();
    const Clock::Time since =
        member != nullptr ? member->heard : missing_since_.try_emplace(replica, now).first->second;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - since);
    text += (text.empty() ? "waiting for " : "; ") + replica.name() + " at " +
            options_.cluster.address(replica) + " (" +
            (member != nullptr ? "silent for " : "has not joined for ") +
            std::to_string(seconds.count()) + " s" + (error.empty() ? "" : ", " + error) + ")";
  }
  return text;
}

}  // namespace taas
