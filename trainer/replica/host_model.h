// A session's variables and gradients as parameter servers are sent them: in memory of the host.
//
// They are the session's own memory where the host sees that; else copies, which are brought over
// before and after each exchange.
//
// Ownership: owns the copies, borrows the session. Threads: one at a time. Errors: those of the
// device's copies.
//
//   HostModel model(session);
//   RETURN_IF_ERROR(model.ReadGradients());   // then push model.gradients(),
//   RETURN_IF_ERROR(model.WriteVariables());  // and model.variables() have come.

#ifndef TRAINER_REPLICA_HOST_MODEL_H_
#define TRAINER_REPLICA_HOST_MODEL_H_

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

  // In the session's order; a gradient is empty of what is not trained.
  const std::vector<std::span<float>>& variables() const { return variables_; }
  const std::vector<std::span<float>>& gradients() const { return gradients_; }

  absl::Status ReadGradients();
  // But for those that are neither trained nor moved, which no server has.
  absl::Status WriteVariables();

 private:
  Session& session_;
  std::vector<std::vector<float>> copies_;
  std::vector<std::span<float>> variables_, gradients_;
};

}  // namespace taas

#endif  // TRAINER_REPLICA_HOST_MODEL_H_
