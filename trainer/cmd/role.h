// What the roles of a process share, and the roles themselves: one function each, from the
// configuration to the end.
//
//   chief, worker, ps, evaluator     a replica of a job
//   ring chief, ring worker          a replica of one that trains by all-reduce
//   local                            all of it in one process
//
// Ownership: Role borrows the process's options, board and stop flag and owns the rest. Threads:
// the caller's. Errors: become exit codes (replica_process.h): Cancelled was told to stop,
// Unavailable and DeadlineExceeded want another try, others are permanent.
//
//   Role role(process, board, watch, stop, farewell);
//   return RunChief(role);

#ifndef TRAINER_CMD_ROLE_H_
#define TRAINER_CMD_ROLE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/cmd/farewell.h"
#include "trainer/cmd/place.h"
#include "trainer/cmd/replica_process.h"
#include "trainer/cmd/trace_file.h"
#include "trainer/cuda/cuda_runtime.h"
#include "trainer/cut/snapshot.h"
#include "trainer/graph/device_group.h"
#include "trainer/graph/runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/replica/member.h"
#include "trainer/replica/replica_loop.h"
#include "trainer/retry/try_on.h"
#include "trainer/status/gpu_watch.h"
#include "trainer/status/series.h"
#include "trainer/status/status_server.h"
#include "trainer/status/step_log.h"
#include "trainer/summary/checkpoint_weights.h"
#include "trainer/summary/event_pages.h"
#include "trainer/summary/recorder.h"
#include "trainer/task/model_task.h"

namespace taas {

class Role {
 public:
  Role(const ReplicaProcess& process, StatusBoard& board, GpuWatch& watch, const StopFlag& stop,
       Farewell& farewell)
      : process_(process), board_(board), watch_(watch), stop_(stop), farewell_(farewell) {}

  const ReplicaProcess& process() const { return process_; }
  const TrainerConfig& config() const { return process_.config; }
  const ClusterSpec& cluster() const { return *process_.cluster; }
  JobIdentity job() const { return {process_.uid, process_.attempt, process_.token}; }
  StatusBoard& board() { return board_; }
  const StopFlag& stop() const { return stop_; }
  Farewell& farewell() { return farewell_; }
  const Clock& clock() const { return clock_; }
  FileSystem& files() { return files_; }
  Place& place() { return place_; }
  Series& series() { return series_; }

  // Serves /status, /series and /events while the result lives; null if no port was given.
  // `before_status` brings the board up to date.
  absl::StatusOr<std::unique_ptr<StatusServer>> ServeStatus(
      std::function<void()> before_status = [] {});
  // A port that is taken is no fault of the configuration: the next pod is given another.
  static absl::Status Restart(const absl::Status& status);

  // What its sessions compute with: the GPUs that the process was told of, opened once, or the
  // processor.
  absl::StatusOr<Runtime> ComputesWith();
  // What sums gradients between its GPU and those of other ranks. Null on a processor, and where
  // there is no NCCL, which the log says: `why_not`.
  struct Peers {
    std::unique_ptr<DeviceGroup> group;
    std::string why_not;
  };
  Peers MakePeers() const;
  // Where threads wait for a device that neither answers nor lets them go: nothing else ends.
  [[noreturn]] void EndNow(const absl::Status& why);
  // How the process has ended, with what is known of its GPUs if it was they.
  absl::Status Explain(absl::Status status) const {
    return gpus_ == nullptr ? status : gpus_->Explain(std::move(status));
  }
  // Says where its ops lie, if that is wanted, and records the trace.
  absl::StatusOr<std::unique_ptr<ModelTask>> MakeTask(GradientMemory gradient_memory = nullptr);
  // What waits for data that cannot be read gives up: it is no longer wanted.
  void StopReading() { reading_stopped_.Stop(); }
  // That the model can be exported where it is to be; else that is said before the training.
  absl::Status TryExport();
  // Null without a directory. While another living job owns the directory, waits: a process that
  // ended instead would be started again to find the same.
  absl::StatusOr<std::unique_ptr<SnapshotStore>> OpenStore(TrainingTask& task);
  // However the run has ended, the next job need not wait for the lease. Returns `status`.
  static absl::Status Release(SnapshotStore* store, absl::Status status);

  // Of the chief and of a process by itself: what /series shows and event files hold.
  std::unique_ptr<Recorder> MakeRecorder(ModelTask& task);
  // Says in the event file how the training has ended, with its last step and its evaluation,
  // unless it was stopped and may go on.
  void EndRecording(ModelTask& task, Recorder& recorder, const absl::Status& status) const;
  // And the weights of each checkpoint, while the result lives; null if nobody wants them.
  std::unique_ptr<CheckpointWeights> FollowCheckpoints();
  // Samples of the steps that are logged go to the recorder, if there is one. `gradients`: of the
  // present step, where their number changes while the training goes on.
  absl::StatusOr<StepLog> MakeStepLog(ModelTask& task, Recorder* recorder,
                                      std::function<int64_t()> gradients = nullptr) const;
  // The rate; nothing at the first step and at the first after going back to a checkpoint, from
  // which it is measured.
  static std::optional<double> LogStep(StepLog& log, const StepResult& step, int64_t* last);

  void ShowCheckpoints(const std::vector<CheckpointDir::Listed>& listed);
  void ShowTrouble(const std::string& why);
  Member::Options MemberOptions() const;
  TryLimits limits() const;
  Tries TriesUntil(const StopFlag& stop) { return {clock_, board_, stop, limits()}; }

 private:
  // What heads the event files.
  std::vector<summary::Event> EventHead(ModelTask& task) const;
  summary::Event PlacedGraph(ModelTask& task) const;
  static Sample SampleOf(ModelTask& task, const Recorder& recorder, const Optimizer& optimizer,
                         int64_t step, double loss);

  const ReplicaProcess& process_;
  StatusBoard& board_;
  GpuWatch& watch_;
  const StopFlag& stop_;
  Farewell& farewell_;
  RealClock clock_;
  PosixFileSystem files_;
  Place place_;
  Series series_;
  StopFlag reading_stopped_;
  std::unique_ptr<cuda::CudaRuntime> gpus_;
  std::optional<EventPages> events_;
  std::optional<TraceFile> trace_;
};

absl::Status RunLocally(Role& role);
absl::Status RunChief(Role& role);
absl::Status RunWorker(Role& role);
absl::Status RunParameterServer(Role& role);
absl::Status RunEvaluator(Role& role);
absl::Status RunRingChief(Role& role);
absl::Status RunRingWorker(Role& role);

}  // namespace taas

#endif  // TRAINER_CMD_ROLE_H_
