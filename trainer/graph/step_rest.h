// Kernels that follow those of a graph, in the same stream: what is done with gradients, and the
// update of an optimizer.
//
// Ownership: a session borrows it, from Session::Append to Session::Remove. Threads: those of the
// session's runs. Errors: those of the launches.
//
//   session.Append(RunKind::kStep, update);

#ifndef TRAINER_GRAPH_STEP_REST_H_
#define TRAINER_GRAPH_STEP_REST_H_

#include "absl/status/status.h"

namespace taas {

class Stream;

class StepRest {
 public:
  virtual ~StepRest() = default;
  // Launches the same each time, on memory that stays where it is; it may be recorded.
  virtual absl::Status Launch(Stream& stream) = 0;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_STEP_REST_H_
