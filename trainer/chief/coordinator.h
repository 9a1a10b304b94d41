// Leads a job with parameter servers to its end: gives them their values, looks after who comes and
// goes, takes cuts, goes back to the last one after losses, and exports what was trained.
//
// It is a loop of three: look (at roster, step, failures, clock), decide (next_action.h, pure),
// act. Replicas come to the FrontDesk; who holds the model is behind ModelHolder.
//
// Ownership: borrows clock, board, task and store. Threads: Run on one (it starts others, which end
// with it). Errors of Run: Cancelled (stopped; a last checkpoint is written), DeadlineExceeded
// (peers did not come: restart), that of the chief's own training, others permanent.
//
//   Coordinator coordinator(clock, options, board, task, store.get());
//   ASSIGN_OR_RETURN(auto server, ChiefServer::Start(host, port, coordinator.desk()));
//   absl::Status status = coordinator.Run(stop);

#ifndef TRAINER_CHIEF_COORDINATOR_H_
#define TRAINER_CHIEF_COORDINATOR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "trainer/chief/front_desk.h"
#include "trainer/chief/model_holder.h"
#include "trainer/chief/next_action.h"
#include "trainer/cluster/membership.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/config/trainer_config.h"
#include "trainer/cut/save_policy.h"
#include "trainer/cut/snapshot.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/ps/commit_record.h"
#include "trainer/retry/stop_flag.h"
#include "trainer/retry/try_on.h"
#include "trainer/status/status_board.h"
#include "trainer/task/training_task.h"

namespace taas {

// Between attempts to begin a generation, and to reach who holds the model: short at first, since a
// parameter server is back in a moment.
constexpr std::chrono::milliseconds kRetryPause{50};

class Coordinator {
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

  // Of the replicas, and of the chief's own training.
  FrontDesk& desk() { return desk_; }
  // Until the job is done and all replicas have taken leave.
  absl::Status Run(const StopFlag& stop);

 private:
  // coordinator.cc: the loop.
  absl::Status RunToEnd(const StopFlag& stop);
  absl::Status LoadStart(const StopFlag& stop);
  std::unique_ptr<ModelHolder> MakeHolder(int aggregate, const StopFlag& stop) const;
  ChiefView Look(const StopFlag& stop);
  // An action that does not end the job; after an error, what there is to do about it.
  absl::Status Act(ChiefAction action, const StopFlag& stop);
  absl::Status Mend(const absl::Status& broken, const StopFlag& stop);
  absl::Status End(ChiefAction action, const StopFlag& stop);
  absl::Status Finish(const StopFlag& stop);
  void TakeFarewell(const StopFlag& stop);

  // coordinator_acts.cc: what is done in it.
  void Excuse();
  void AwaitHolders();
  void Probe(const std::vector<ReplicaId>& missing);
  absl::Status Begin();
  absl::Status Reconnect(const StopFlag& stop);
  void GoBack(const absl::Status& broken, const StopFlag& stop);
  absl::Status LetGo();
  absl::Status Fence();
  absl::Status Name();
  absl::Status Train();
  void PauseWork(RunState state, const std::string& why);
  void ShowWaiting(const absl::Status& broken);
  bool Replaced(const FrontDesk::State& state) const;
  void ShowPeers();

  // coordinator_cuts.cc: what is kept of the model.
  absl::Status TakeCut();
  // Saves the last cut while all else goes on: a disk may take minutes, and a parameter server that
  // is told to stop has seconds.
  void SaveBeside();
  // Takes in what has become of that, if it has ended, and says to the directory that the job
  // lives.
  void LookAtDisk();
  // After what was done to the directory while the job goes on.
  void GoOn(const absl::Status& status, int64_t step);
  // With nothing else to do meanwhile.
  absl::Status SaveNow();
  // Before the process ends for another reason.
  void SaveLast();

  Tries TriesUntil(const StopFlag& stop) const { return {clock_, board_, stop, options_.limits}; }

  const Clock& clock_;
  const Options options_;
  StatusBoard& board_;
  TrainingTask& task_;
  SnapshotStore* const store_;
  FrontDesk desk_;

  // Of Run's thread only.
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<ModelHolder> holder_;
  ChiefView::Model model_ = ChiefView::Model::kNowhere;
  bool began_ = false;                 // There was a generation.
  std::vector<Incarnation> holders_;   // Of the present generation, by shard.
  absl::Status broken_;                // Why the model is out of touch.
  std::string awaited_;                // Who is missing, in words; "" if nobody is waited for.
  Clock::Time awaited_since_{};
  Clock::Time wait_logged_{};
  std::map<ReplicaId, Clock::Time> probed_;
  std::chrono::milliseconds pause_ = kRetryPause;  // Before the next generation, if this fails.
  int64_t step_ = 0;                   // Committed, as the holder said last.
  // The last cut: what a lost generation goes back to. It does not change any more: the disk may
  // read it, or an earlier one.
  std::shared_ptr<Snapshot> cut_;
  struct Saving {
    int64_t step = 0;
    std::future<absl::Status> result;
  };
  std::optional<Saving> saving_;
  SavePolicy saves_;
  Clock::Time shown_at_{};
};

}  // namespace taas

#endif  // TRAINER_CHIEF_COORDINATOR_H_
