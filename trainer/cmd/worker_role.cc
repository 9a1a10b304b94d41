#include <chrono>
#include <string>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cmd/role.h"
#include "trainer/replica/member.h"
#include "trainer/replica/replica_loop.h"

namespace taas {
namespace {

// Whoever ends this process is not to wait for a chief that does not answer.
constexpr std::chrono::milliseconds kFarewellPatience{100};

}  // namespace

absl::Status RunWorker(Role& role) {
  ASSIGN_OR_RETURN(const auto status_page, role.ServeStatus());
  const absl::Status claimed = role.place().Claim();
  if (!claimed.ok()) return Role::Restart(claimed);
  ASSIGN_OR_RETURN(const auto task, role.MakeTask());
  Member::Options options = role.MemberOptions();
  options.data_identity = task->data_identity();
  Member member(role.clock(), std::move(options), role.board(), role.stop());
  RETURN_IF_ERROR(member.Start());
  // The chief need not miss this worker first to lend its batches to others.
  const Farewell::Scope farewell(role.farewell(), [&] { member.Leave(kFarewellPatience); });
  ASSIGN_OR_RETURN(StepLog log, role.MakeStepLog(*task, nullptr));
  ReplicaObserver observer;
  int64_t last = -1;
  observer.on_step = [&role, &log, &last](const StepResult& step) {
    Role::LogStep(log, step, &last);
    role.board().SetProgress({.step = step.step, .loss = step.loss});
  };
  observer.on_trouble = [&role](const std::string& why) { role.ShowTrouble(why); };
  bool worked = false;
  observer.on_gradient = [&worked](int64_t) { worked = true; };
  RETURN_IF_ERROR(RunReplica(member, *task, observer,
                             {.narrow = role.config().gradient_precision == "bfloat16"}));
  member.Leave();
  std::string late;
  if (!worked) {
    late = "training had ended at step " + std::to_string(member.end_step()) +
           " when this worker came";
    Log(LogLevel::kInfo, late);
  }
  role.board().SetState(RunState::kDone, late);
  return absl::OkStatus();
}

}  // namespace taas
