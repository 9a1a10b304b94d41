// GET api/jobs/NS/PLURAL/NAME/training: what the time of the ranks of an all-reduce goes to, and
// where the job's checkpoints are; of a job that nobody answers for, as the history has them. Of
// one that is over, which file its model can be downloaded as.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors:
// answers with a Problem; a trainer that does not answer is no error.
//
//   TrainingRoutes training(context);
//   training.AddTo(&routes.table());

#ifndef DASHBOARD_TRAINING_TRAINING_ROUTES_H_
#define DASHBOARD_TRAINING_TRAINING_ROUTES_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "dashboard/server/access.h"
#include "dashboard/server/board.h"
#include "dashboard/server/route_table.h"
#include "dashboard/training/checkpoint_source.h"
#include "dashboard/training/model_source.h"
#include "dashboard/training/report_source.h"

namespace taas::dashboard {

struct TrainingFacts {
  ReportReply reply;
  CheckpointList checkpoints;
  std::string recorded;  // What the history has of its checkpoints; "": nothing.
  std::optional<ModelDownload> model;
};

class TrainingRoutes {
 public:
  struct Context {
    Board& board;
    Access& access;
    ReportSource& reports;
    CheckpointSource& checkpoints;
    ModelSource& models;
    // What the history has of a job's checkpoints, as a JobCheckpoints; "": nothing. Null: there is
    // no history.
    std::function<void(const std::string& uid, std::function<void(std::string checkpoints)> done)>
        recorded = nullptr;
  };

  explicit TrainingRoutes(Context context) : context_(std::move(context)) {}
  void AddTo(RouteTable* table);

 private:
  void Training(ApiCall call);
  void OfOneThatIsOver(const ClusterCache::JobPtr& job,
                       std::function<void(std::string text)> respond);
  void Complete(const ClusterCache::JobPtr& job, TrainingFacts facts,
                std::function<void(std::string text)> respond);

  const Context context_;
};

// A TrainingFacts of dashboard/web.
std::string TrainingText(const WatchedJob& job, const TrainingFacts& facts);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_TRAINING_ROUTES_H_
