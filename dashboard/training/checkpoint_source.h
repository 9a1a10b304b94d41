// Which checkpoints a job has: on the local cluster by its volume's folder, also of a job that is
// over; elsewhere by what its chief says while it runs.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only; `done` may be
// called inside the call. Errors: none; a list of nobody is not known.
//
//   source.Fetch(*job, pods, [](const CheckpointList& list) { … });

#ifndef DASHBOARD_TRAINING_CHECKPOINT_SOURCE_H_
#define DASHBOARD_TRAINING_CHECKPOINT_SOURCE_H_

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "dashboard/training/report_source.h"
#include "dashboard/training/volume_folder.h"
#include "operator/base/executor.h"
#include "operator/plan/saved_checkpoints.h"

namespace taas::dashboard {

struct CheckpointList {
  enum class From { kNobody, kTrainer, kFolder, kStatus };
  From from = From::kNobody;  // kStatus: that the job has succeeded, and at which step.
  std::string folder;         // Of this machine; empty: elsewhere.
  std::vector<SavedCheckpoint> newest;  // The newest first.
};

class CheckpointSource {
 public:
  using Pods = ReportSource::Pods;
  using Done = std::function<void(const CheckpointList& list)>;
  struct Context {
    Executor& executor;
    Executor& disk;
    ReportSource& reports;
    ClaimDir claim_dir;
  };

  explicit CheckpointSource(Context context) : context_(std::move(context)) {}

  void Fetch(const WatchedJob& job, const Pods& pods, Done done);

 private:
  void ReadFolder(const std::string& top, const std::string& below, const Done& done);

  const Context context_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// A JobCheckpoints of dashboard/web; null for a job that keeps none, as far as its manifest says.
nlohmann::json CheckpointsJson(const WatchedJob& job, const CheckpointList& list);
// The same for the history; "" where nobody has seen any.
std::string SeenCheckpoints(const WatchedJob& job, const CheckpointList& list);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_CHECKPOINT_SOURCE_H_
