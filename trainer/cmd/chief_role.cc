#include <memory>
#include <thread>

#include "operator/base/status.h"
#include "trainer/chief/coordinator.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/cmd/reception.h"
#include "trainer/cmd/role.h"
#include "trainer/ps/commit_ledger.h"
#include "trainer/replica/replica_loop.h"

namespace taas {

absl::Status RunChief(Role& role) {
  ASSIGN_OR_RETURN(const auto status_page, role.ServeStatus());
  // The port first: others wait for a chief that gets ready, however long its data takes, but not
  // for one that is not there. And a second process with this identity on this machine must not
  // take the directory from the first.
  Reception reception;
  std::unique_ptr<ModelTask> task;
  std::unique_ptr<Coordinator> coordinator;  // Outlives the server, whose calls end in it.
  const absl::Status free = role.place().Try();
  if (!free.ok()) return Role::Restart(free);
  auto server = ChiefServer::Start(role.place().listen_host(), role.place().port(), reception,
                                   role.process().token);
  if (!server.ok()) return Role::Restart(server.status());
  ASSIGN_OR_RETURN(task, role.MakeTask());
  RETURN_IF_ERROR(role.TryExport());
  ASSIGN_OR_RETURN(const auto store, role.OpenStore(*task));
  const auto recorder = role.MakeRecorder(*task);
  const auto weights = role.FollowCheckpoints();
  ASSIGN_OR_RETURN(StepLog log, role.MakeStepLog(*task, recorder.get()));
  ASSIGN_OR_RETURN(const auto ledger, ps::CommitLedger::FromEnvironment(
                                          role.cluster().self.name(), role.process().start));
  coordinator = std::make_unique<Coordinator>(
      role.clock(),
      Coordinator::Options{
          .config = role.config(),
          .cluster = role.cluster(),
          .job = role.job(),
          .self = {role.process().pod_number, role.process().start},
          .record = ledger.get(),
          .limits = role.limits(),
          .on_evaluation = [&](const Evaluation& evaluation) { log.OnEvaluation(evaluation); }},
      role.board(), *task, store.get());
  reception.Open(coordinator->desk());

  ReplicaObserver observer;
  int64_t last = -1;
  const auto show = [&role, &log, &last](const StepResult& step) {
    if (const auto rate = Role::LogStep(log, step, &last)) role.board().SetLoss(step.loss, *rate);
  };
  observer.on_step = show;
  // Where backup workers are faster each time, these are all that the chief has to show.
  observer.on_late = [&last, show](int64_t, const StepResult& step) {
    if (step.step != last) show(step);
  };
  observer.on_trouble = [&role](const std::string& why) { role.ShowTrouble(why); };
  std::thread trainer([&] {
    const absl::Status status =
        RunReplica(coordinator->desk(), *task, observer,
                   {.narrow = role.config().gradient_precision == "bfloat16"});
    if (!status.ok()) coordinator->desk().Fail(status);
  });
  const absl::Status status = coordinator->Run(role.stop());
  role.StopReading();
  trainer.join();
  role.EndRecording(*task, *recorder, status);
  return Role::Release(store.get(), status);
}

}  // namespace taas
