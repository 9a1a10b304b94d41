#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cmd/role.h"
#include "trainer/strategy/local_strategy.h"

namespace taas {

absl::Status RunLocally(Role& role) {
  if (const TrainerConfig& config = role.config(); config.mode == UpdateMode::kSync) {
    Log(LogLevel::kWarning,
        "one process trains alone: sync_replicas, replicas_to_aggregate and backup_workers "
        "(strategy.mode Sync) count for nothing");
  }
  ASSIGN_OR_RETURN(const auto status_page, role.ServeStatus());
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
