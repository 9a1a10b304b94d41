// The chief's side of a parameter-server job: admits replicas, gives parameter servers their
// values, lends batches, takes cuts, restores after losses, and ends the job.
//
//   WaitForShards -> Configure(generation n) -> Watch --all batches committed--> Finish
//         ^                                       |
//         +---- a parameter server is lost or leaves -+   (n + 1, from the last cut)
//
// The rules are elsewhere and pure: who is admitted (membership.h), who trains what
// (batch_leases.h), what counts (commit_core.h). This class is their shell.
//
// Ownership: borrows clock, board, task and store. Threads: Run on one (it starts another, which
// ends with it), the WorkSource on one other, the handler's methods on any. Errors of Run:
// Cancelled (stopped; a last checkpoint is written), DeadlineExceeded (peers did not come:
// restart), that of the chief's own training, others permanent.
//
//   Coordinator coordinator(clock, options, board, task, store.get());
//   ASSIGN_OR_RETURN(auto server, ChiefServer::Start(host, port, coordinator));
//   absl::Status status = coordinator.Run(stop);

#ifndef TRAINER_CHIEF_COORDINATOR_H_
#define TRAINER_CHIEF_COORDINATOR_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/batches/batch_leases.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/cluster/membership.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/config/trainer_config.h"
#include "trainer/cut/save_policy.h"
#include "trainer/cut/snapshot.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/ps/commit_record.h"
#include "trainer/ps/configure_check.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/shard_client.h"
#include "trainer/replica/work_source.h"
#include "trainer/retry/stop_flag.h"
#include "trainer/retry/try_on.h"
#include "trainer/status/status_board.h"
#include "trainer/task/training_task.h"

namespace taas {

// Once told to stop, a parameter server that moves no byte for this long is left behind: 30 s later
// whoever told it kills the process.
constexpr std::chrono::milliseconds kPatienceAtStop{2'000};
// Likewise in the middle of a cut, since a stop may come then: nothing is lost by asking again. It
// hears every 2 s of a copy that takes long.
constexpr std::chrono::milliseconds kPatienceInACut{5'000};

class Coordinator : public ChiefHandler, public WorkSource {
 public:
  struct Options {
    TrainerConfig config;
    ClusterSpec cluster;
    JobIdentity job;
    Incarnation self;
    ps::CommitRecord* record = nullptr;  // Of where generations begin; none without.
    TryLimits limits{.role = TrainerRole::kChief};  // `start`: for parameter servers, too.
    std::function<void(const Evaluation&)> on_evaluation = [](const Evaluation&) {};
    // How Run waits before it begins a generation once more. A test does not.
    std::function<void(const StopFlag& stop, std::chrono::milliseconds pause)> wait =
        [](const StopFlag& stop, std::chrono::milliseconds pause) { stop.WaitFor(pause); };
  };
  // `store` may be null: no checkpoints. Whoever opened it releases it after Run.
  Coordinator(const Clock& clock, Options options, StatusBoard& board, TrainingTask& task,
              SnapshotStore* store);
  ~Coordinator() override;

  // Until the job is done and all replicas have taken leave.
  absl::Status Run(const StopFlag& stop);

  // ChiefHandler.
  wire::JoinReply Join(const wire::JoinRequest& request) override;
  wire::BeatReply Beat(const wire::BeatRequest& request) override;
  void Leave(const wire::LeaveRequest& request) override;

  // WorkSource of the chief's own training. After Fail, Next returns that error.
  absl::StatusOr<Work> Next() override;
  bool StillCurrent(int64_t generation, const Pusher& pusher) override;
  // The chief's own training has ended with an error: Run ends with it, whatever its class.
  void Fail(const absl::Status& status);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct LastGrant {
    uint64_t sequence = 0;
    int64_t generation = 0;
    std::vector<int64_t> batches;
  };
  struct Peer {
    LastGrant grant;
    wire::Report report;
  };
  struct Lost {
    Pusher pusher;
    std::string name;
  };

  // coordinator.cc, with the lock held.
  Pusher PusherOf(const ReplicaId& replica, const Incarnation& incarnation) const;
  Admittance CheckData(const wire::JoinRequest& request) const;
  void GiveUp(const ReplicaId& replica, const Incarnation& incarnation);
  void FillWork(const wire::BeatRequest& request, const Pusher& pusher, bool has_left,
                Peer& peer, wire::BeatReply* reply);
  // Of members that are forgotten.
  void ForgetPeers();
  std::string DescribeMissing(const std::vector<ReplicaId>& missing);

  // Who may push: the chief itself and the training replicas that are there.
  std::set<Pusher> TrainingMembers() const;
  // True once all shards know of `pusher`, or if it is none that pushes.
  bool MayTrain(const Pusher& pusher) const;
  bool HasWork(const Pusher& pusher) const {
    return ready_ && MayTrain(pusher) && (aggregate_ > 0 || leases_.available());
  }
  bool HasLeft(const ReplicaId& replica, const Incarnation& incarnation) const;
  // A call to a parameter server that is cut off if it still waits kPatienceAtStop after a stop.
  template <typename Call>
  auto CutOffAtStop(ps::ShardControl& control, Call call) {
    {
      Lock lock(mutex_);
      cut_off_at_stop_ = &control;
    }
    auto result = call();
    Lock lock(mutex_);
    cut_off_at_stop_ = nullptr;
    return result;
  }
  // On its own thread, until Run's has ended.
  void CutOffWhenStopped(const StopFlag& stop);

  // On Run's thread, as the rest. coordinator_run.cc: the life of the job.
  absl::Status RunToEnd(const StopFlag& stop);
  absl::Status LoadStart(const StopFlag& stop);
  absl::Status WaitForShards(const StopFlag& stop);
  absl::Status StartGeneration();
  void PauseWork(RunState state, const std::string& why);
  void ShowPeers();
  absl::Status Failure();
  Tries TriesUntil(const StopFlag& stop) const {
    return {clock_, board_, stop, options_.limits};
  }

  // coordinator_watch.cc: while a generation trains.
  absl::Status Watch(const StopFlag& stop);
  absl::Status Resume(const StopFlag& stop, const absl::Status& broken);
  absl::Status WatchOnce(int64_t target);
  absl::Status FenceLost();
  // Tells the shards of those who have come or gone.
  absl::Status NameMembers();
  bool ShardsReplaced();
  // Lets a parameter server that was told to stop go, with a cut. Aborted if one goes.
  absl::Status LetGo();
  // Saves the last cut while the training goes on, and watches over it meanwhile: a disk may take
  // minutes, and a parameter server that is told to stop has seconds.
  absl::Status SaveBesideTraining();
  absl::Status WatchWhileSaving();

  // coordinator_cuts.cc: what is kept of it.
  // Of `snapshot`, as parameter servers have it.
  ps::ModelSpans SpansOf(Snapshot& snapshot);
  absl::Status TakeCut();
  // Of the parameter servers, into `cut`, which has the model's shape.
  absl::Status ReadCutInto(Snapshot& cut);
  absl::Status SaveCut(bool beside_training = false);
  // After what was done to the checkpoint directory.
  absl::Status GoOn(const absl::Status& status);
  absl::Status SaveWhatIsThere();
  void SaveBeforeEnd();
  absl::Status Finish(const StopFlag& stop);

  const Clock& clock_;
  const Options options_;
  StatusBoard& board_;
  TrainingTask& task_;
  SnapshotStore* const store_;
  const ps::Layout layout_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Membership membership_;
  std::map<ReplicaId, Peer> peers_;
  std::map<ReplicaId, std::string> probe_errors_;
  std::map<ReplicaId, Clock::Time> missing_since_;
  BatchLeases leases_;
  std::vector<Lost> lost_;  // To be fenced.
  std::set<Pusher> named_;  // Whose pushes all shards of the present generation take.
  std::map<ReplicaId, Incarnation> going_;  // Parameter servers that were told to stop.
  std::vector<Incarnation> shard_incarnations_;  // Of the present generation, by shard.
  std::vector<std::string> shard_addresses_;
  uint64_t view_ = 1;
  int64_t generation_ = 0;
  int64_t seen_generation_ = 0;  // The highest that any process knows of.
  bool ready_ = false;
  bool trained_ = false;  // All batches are committed.
  bool done_ = false;
  int64_t end_step_ = 0;  // Once done_.
  bool closing_ = false;
  bool ended_ = false;  // Run has.
  ps::ShardControl* cut_off_at_stop_ = nullptr;
  std::string waiting_for_;
  absl::Status failure_;
  Clock::Time next_complaint_{};
  int aggregate_ = 0;  // Gradients of one step; 0: asynchronous. Set before the first generation.

  // Of Run's thread only.
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::unique_ptr<ps::ShardControl>> controls_;
  bool answering_ = false;  // The controls, when they were asked last.
  Snapshot snapshot_;  // The last cut: what a lost generation goes back to.
  std::chrono::milliseconds cut_patience_ = kPatienceInACut;
  std::optional<Snapshot> next_cut_;  // Taken while that is being saved; its successor then.
  std::vector<float> no_slot_;  // Goes over the wire where what is moved has no slot.
  int64_t step_ = 0;  // Committed, as shard 0 said last.
  SavePolicy saves_;
  Clock::Time shown_at_{};
};

}  // namespace taas

#endif  // TRAINER_CHIEF_COORDINATOR_H_
