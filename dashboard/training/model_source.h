// The trained model of a job that is over, for whoever wants to take it away: on the local cluster,
// where volumes are folders of this machine.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only; `done` may be
// called inside the call. Errors: FailedPrecondition: the job goes on; NotFound: there is no model,
// or it cannot be seen from here; each says what to do.
//
//   source.Find(*job, [](absl::StatusOr<ModelDownload> model) { … });

#ifndef DASHBOARD_TRAINING_MODEL_SOURCE_H_
#define DASHBOARD_TRAINING_MODEL_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "dashboard/server/watched.h"
#include "dashboard/training/model_files.h"
#include "dashboard/training/volume_folder.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

struct ModelDownload {
  std::string name;  // Of the file that it becomes: "mnist.tar".
  ModelFiles::Kind kind = ModelFiles::Kind::kCheckpoint;
  std::shared_ptr<ModelBytes> bytes;
};

class ModelSource {
 public:
  using Done = std::function<void(const absl::StatusOr<ModelDownload>& model)>;
  struct Context {
    Executor& executor;
    Executor& disk;
    ClaimDir claim_dir;
  };

  explicit ModelSource(Context context) : context_(std::move(context)) {}

  // Opens none of its files.
  void Find(const WatchedJob& job, Done done);

 private:
  const Context context_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// A ModelOffer of dashboard/web.
nlohmann::json ModelOfferJson(const ModelDownload& model);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_MODEL_SOURCE_H_
