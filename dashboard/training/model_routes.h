// GET api/jobs/NS/PLURAL/NAME/model: the trained model of a job that is over, as one file.
//
// It is read on the disk's executor and sent as fast as the client takes it: of each download some
// kUnsentMax are in the memory. The head says how long it is, and one that breaks off is shorter.
//
// Ownership: what is given at construction outlives it, but for the executors, which outlive the
// streams too. Threads: the executor's only. Errors: answers with a Problem.
//
//   ModelRoutes model(context);
//   model.AddTo(&routes.table());

#ifndef DASHBOARD_TRAINING_MODEL_ROUTES_H_
#define DASHBOARD_TRAINING_MODEL_ROUTES_H_

#include <chrono>
#include <cstddef>
#include <memory>

#include "dashboard/server/access.h"
#include "dashboard/server/board.h"
#include "dashboard/server/route_table.h"
#include "dashboard/training/model_source.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

class ModelRoutes {
 public:
  // At one time; each has a file open and waits for the disk.
  static constexpr size_t kDownloadsMax = 8;
  static constexpr size_t kChunkBytes = 256 << 10;
  static constexpr size_t kUnsentMax = 1 << 20;
  // Read in one task of the disk's executor, on which others wait.
  static constexpr size_t kSliceBytes = 2 << 20;
  // A client that takes 50 MB/s has taken all of kUnsentMax by then.
  static constexpr std::chrono::milliseconds kDrainCheck{20};

  struct Context {
    Executor& executor;
    Executor& disk;
    Board& board;
    Access& access;
    ModelSource& source;
  };

  explicit ModelRoutes(const Context& context) : context_(context) {}
  void AddTo(RouteTable* table);

 private:
  void Find(const ApiCall& call, const ClusterCache::JobPtr& job);
  void Send(const ApiCall& call, const ModelDownload& model);

  const Context context_;
  size_t open_ = 0;  // Those whose files are being looked for count, too.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_MODEL_ROUTES_H_
