// A job with parameter servers in threads of this process, over loopback, as processes of pods are:
// the chief with its own training, parameter servers, and as many workers as a test starts.
//
// Ownership: borrows the chief's task and store; owns all else. Threads: the caller's, but that
// workers may be started from any. Errors: EXPECT of gtest, and what Finish returns.
//
//   JobInThreads job({.config = config, .workers = 1, .make_task = make}, task, store);
//   job.StartServers();
//   job.StartChief();
//   job.StartWorker(0);
//   ASSERT_THAT(job.Finish(), IsOk());

#ifndef TRAINER_TESTING_JOB_IN_THREADS_H_
#define TRAINER_TESTING_JOB_IN_THREADS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "trainer/chief/coordinator.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/ps/commit_record.h"
#include "trainer/ps/ledger_check.h"
#include "trainer/ps/shard.h"
#include "trainer/replica/member.h"
#include "trainer/replica/replica_loop.h"

namespace taas {

// What a parameter server applied.
class MemoryRecord : public ps::CommitRecord {
 public:
  void OnGeneration(const Generation& generation) override;
  void OnCommit(const ps::Decision& decision) override;
  std::vector<ps::LedgerRecord> records;

 private:
  Generation now_;
};

class JobInThreads {
 public:
  struct Options {
    TrainerConfig config;
    int servers = 2;
    int workers = 0;  // That the chief's TF_CONFIG has.
    // A worker's own.
    std::function<std::unique_ptr<TrainingTask>()> make_task{};
  };
  JobInThreads(Options options, TrainingTask& task, SnapshotStore* store = nullptr);
  JobInThreads(const JobInThreads&) = delete;
  JobInThreads& operator=(const JobInThreads&) = delete;

  void StartServers();
  // The chief's own training.
  void StartChief(ReplicaObserver observer = {});
  // Ends in the middle of the job when `stop` says so.
  void StartWorker(int index, ReplicaObserver observer = {}, const StopFlag* stop = nullptr);
  // Leads the job to its end, and waits for all.
  absl::Status Finish();

  Member::Options MemberOptions(const ReplicaId& self);
  int port() const { return server_->port(); }
  const StatusBoard& board() const { return board_; }
  // Of a parameter server, once Finish has returned.
  const std::vector<ps::LedgerRecord>& records(int shard) const {
    return servers_[static_cast<size_t>(shard)].record.records;
  }
  const ps::Shard::Stats& stats(int shard) const {
    return servers_[static_cast<size_t>(shard)].stats;
  }

 private:
  struct Server {
    MemoryRecord record;
    ps::Shard::Stats stats;
  };
  void RunServer(int index);
  void RunWorker(int index, const ReplicaObserver& observer, const StopFlag* stop);

  const Options options_;
  TrainingTask& task_;
  RealClock clock_;
  std::mutex mutex_;
  SystemRandom random_;
  StopFlag stop_;
  StatusBoard board_;
  ClusterSpec cluster_;
  Coordinator coordinator_;
  std::unique_ptr<ChiefServer> server_;
  std::deque<Server> servers_;
  std::vector<std::thread> threads_;
};

}  // namespace taas

#endif  // TRAINER_TESTING_JOB_IN_THREADS_H_
