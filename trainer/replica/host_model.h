// A session's model as parameter servers send and are sent it: in memory of the host.
//
// Variables and gradients are the session's own memory where the host sees that; else copies, which
// are brought over before and after each exchange.
//
// Of what is moved and not trained, the moving moments of batch normalization, a push holds what a
// batch adds: a step of the graph leaves decay * moment + (1 - decay) * batch in it, and it begins
// each step at zero. Each server moves what it holds (piece_update.h), so that the moments follow
// the batches of all replicas, each once and however old its values were.
//
// Ownership: owns the copies, borrows the session. Threads: one at a time. Errors: those of the
// device's copies.
//
//   HostModel model(session);
//   RETURN_IF_ERROR(model.BeginStep());
//   RETURN_IF_ERROR(session.Run(RunKind::kTrain));
//   RETURN_IF_ERROR(model.EndStep());         // then push model.pushed(),
//   RETURN_IF_ERROR(model.WriteVariables());  // and model.variables() have come.

#ifndef TRAINER_REPLICA_HOST_MODEL_H_
#define TRAINER_REPLICA_HOST_MODEL_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "trainer/graph/session.h"

namespace taas {

class HostModel {
 public:
  explicit HostModel(Session& session);
  HostModel(const HostModel&) = delete;
  HostModel& operator=(const HostModel&) = delete;

  // In the session's order, both.
  const std::vector<std::span<float>>& variables() const { return variables_; }
  // Gradients of what is trained, what the batch adds of what is moved, nothing of the rest.
  const std::vector<std::span<float>>& pushed() const { return pushed_; }

  absl::Status BeginStep();
  absl::Status EndStep();
  // But for those that are neither trained nor moved, which no server has.
  absl::Status WriteVariables();

 private:
  Session& session_;
  std::vector<std::vector<float>> copies_;
  std::vector<std::span<float>> variables_, pushed_;
  std::vector<size_t> moved_;
};

}  // namespace taas

#endif  // TRAINER_REPLICA_HOST_MODEL_H_
