#include "trainer/testing/job_in_threads.h"

#include <utility>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/listener.h"

namespace taas {
namespace {

// Nobody listens there: replicas find each other by what they say when they join.
ClusterSpec Cluster(const JobInThreads::Options& options) {
  ClusterSpec cluster;
  cluster.addresses["chief"] = {"127.0.0.1:1"};
  cluster.addresses["ps"].assign(static_cast<size_t>(options.servers), "127.0.0.1:1");
  if (options.workers > 0) {
    cluster.addresses["worker"].assign(static_cast<size_t>(options.workers), "127.0.0.1:1");
  }
  cluster.self = {"chief", 0};
  return cluster;
}

}  // namespace

void MemoryRecord::OnGeneration(const Generation& generation) {
  now_ = generation;
  records.push_back({.kind = ps::LedgerRecord::Kind::kBegin,
                     .generation = generation.generation,
                     .shard = generation.shard,
                     .shards = generation.shards,
                     .step = generation.step,
                     .pushes = {}});
}

void MemoryRecord::OnCommit(const ps::Decision& decision) {
  records.push_back({.generation = now_.generation,
                     .shard = now_.shard,
                     .step = decision.step,
                     .pushes = decision.pushes});
}

JobInThreads::JobInThreads(Options options, TrainingTask& task, SnapshotStore* store)
    : options_(std::move(options)),
      task_(task),
      board_({.max_steps = options_.config.max_steps}),
      cluster_(Cluster(options_)),
      coordinator_(clock_,
                   {.config = options_.config,
                    .cluster = cluster_,
                    .job = {"uid", 1},
                    .self = {1, random_.Next()}},
                   board_, task, store),
      servers_(static_cast<size_t>(options_.servers)) {
  auto server = ChiefServer::Start("127.0.0.1", 0, coordinator_.desk());
  EXPECT_THAT(server, IsOk());
  server_ = *std::move(server);
}

void JobInThreads::StartServers() {
  for (int i = 0; i < options_.servers; ++i) {
    threads_.emplace_back([this, i] { RunServer(i); });
  }
}

void JobInThreads::StartChief(ReplicaObserver observer) {
  threads_.emplace_back([this, observer = std::move(observer)] {
    EXPECT_THAT(RunReplica(coordinator_.desk(), task_, observer), IsOk());
  });
}

void JobInThreads::StartWorker(int index, ReplicaObserver observer, const StopFlag* stop) {
  std::lock_guard lock(mutex_);
  threads_.emplace_back([this, index, observer = std::move(observer), stop] {
    RunWorker(index, observer, stop);
  });
}

absl::Status JobInThreads::Finish() {
  const absl::Status status = coordinator_.Run(stop_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return status;
}

Member::Options JobInThreads::MemberOptions(const ReplicaId& self) {
  std::lock_guard lock(mutex_);
  return {.chief_name = "chief-0",
          .chief_address = "127.0.0.1:" + std::to_string(port()),
          .job = {"uid", 1},
          .self = self,
          .incarnation = {1, random_.Next()},
          .rank = cluster_.rank(self),
          .config_hash = ConfigHash(options_.config)};
}

void JobInThreads::RunServer(int index) {
  Server& server = servers_[static_cast<size_t>(index)];
  ps::Shard shard({.job = "uid/1", .record = &server.record});
  const auto listener = comm::Listener::Open(
      {.host = "127.0.0.1"}, [&](comm::Channel& channel) { shard.Serve(channel); });
  ASSERT_THAT(listener, IsOk());
  StatusBoard board({});
  Member::Options options = MemberOptions({"ps", index});
  options.bulk_address = "127.0.0.1:" + std::to_string((*listener)->port());
  Member member(clock_, std::move(options), board, stop_);
  ASSERT_THAT(member.Start(), IsOk());
  EXPECT_THAT(member.WaitForEnd(), IsOk());
  member.Leave();
  server.stats = shard.stats();
  shard.Close();
}

void JobInThreads::RunWorker(int index, const ReplicaObserver& observer, const StopFlag* stop) {
  const std::unique_ptr<TrainingTask> task = options_.make_task();
  StatusBoard board({});
  Member member(clock_, MemberOptions({"worker", index}), board, stop == nullptr ? stop_ : *stop);
  ASSERT_THAT(member.Start(), IsOk());
  const absl::Status status = RunReplica(member, *task, observer);
  if (stop == nullptr) {
    EXPECT_THAT(status, IsOk());
  }
  member.Leave();
}

}  // namespace taas
