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
  ASSIGN_OR_RETURN(const auto store, role.OpenStore(*task));
  const auto recorder = role.MakeRecorder(*task);
  const auto weights = role.FollowCheckpoints();
  ASSIGN_OR_RETURN(StepLog log, role.MakeStepLog(*task, recorder.get()));
  const absl::Status status = RunLocal(role.clock(), role.config(), *task, store.get(),
                                       role.board(), log, role.stop());
  role.EndRecording(*recorder, status);
  return Role::Release(store.get(), status);
}

}  // namespace taas
