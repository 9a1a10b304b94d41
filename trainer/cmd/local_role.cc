#include <string>

#include "operator/base/status.h"
#include "trainer/cmd/role.h"
#include "trainer/strategy/local_strategy.h"

namespace taas {

absl::Status RunLocally(Role& role) {
  ASSIGN_OR_RETURN(const auto status_page, role.ServeStatus());
  if (role.process().cluster && !role.cluster().alone() &&
      role.cluster().training_replicas().size() > 1) {
    return absl::InvalidArgumentError(
        "strategy.type Local or Towers: one process trains, but TF_CONFIG has " +
        std::to_string(role.cluster().training_replicas().size()) + " training replicas");
  }
  ASSIGN_OR_RETURN(const auto task, role.MakeTask());
  RETURN_IF_ERROR(role.TryExport());
  ASSIGN_OR_RETURN(const auto store, role.OpenStore(*task));
  const auto recorder = role.MakeRecorder(*task);
  const auto weights = role.FollowCheckpoints();
  ASSIGN_OR_RETURN(StepLog log, role.MakeStepLog(*task, recorder.get()));
  const absl::Status status =
      RunLocal(role.config(), *task, store.get(), log, role.TriesUntil(role.stop()));
  role.EndRecording(*task, *recorder, status);
  return Role::Release(store.get(), status);
}

}  // namespace taas
