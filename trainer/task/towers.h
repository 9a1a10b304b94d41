// One graph on several devices of this process: each tower computes gradients of a batch of its
// own, all with the same variables; the mean of the gradients is one update.
//
// Tower i runs on "/device:CPU:i" with a thread, inputs and tensors of its own; tower 0 is the
// caller's thread. The gradients are added in the order of the towers, so the bits of the mean do
// not depend on which was first. Of a gradient that lists its rows, the mean lists the rows of all
// towers. It equals, but for rounding, the gradient of one batch that is the
// towers' batches one after the other, since a loss is a mean over its batch. What no gradient
// reaches (the moving moments of batch normalization) follows the batches of tower 0 alone.
//
// Those of virtual devices share one memory, so the variables are tower 0's, and the mean is taken
// there when all have ended. Towers on devices of their own (`apart`) have each all variables, and
// take the mean on their way (tower_mean.h), so that a whole step is one run of each: it ends with
// the same update on all, and all keep the same bits. There no gradient lists its rows: towers
// look up different ones, and what a step launches must not depend on them.
//
// Ownership: owns sessions and threads. Threads: one at a time; `fill` is called by the towers'
// threads at the same time, each with its own session. Errors: those of Session and of the
// runtime's collective; of a run, the error of the first tower that has one.
//
//   ASSIGN_OR_RETURN(auto towers, Towers::Compile(runtime, graph, {.loss = "loss"}, 4));
//   RETURN_IF_ERROR(towers->Run([&](int i, Session& session) { return Fill(i, session); }));
//   towers->first().gradient(0);  // Of the mean.

#ifndef TRAINER_TASK_TOWERS_H_
#define TRAINER_TASK_TOWERS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/runtime.h"
#include "trainer/graph/session.h"
#include "trainer/task/tower_mean.h"

namespace taas {

class Towers {
 public:
  // Puts a batch into the inputs of `session`, which is that of `tower`.
  using Fill = std::function<absl::Status(int tower, Session& session)>;

  // `count` is at least 1: so many virtual devices of the first of `runtime`; where it has several,
  // and more than one tower is wanted, one for each.
  static absl::StatusOr<std::unique_ptr<Towers>> Compile(const Runtime& runtime,
                                                         const Graph& graph,
                                                         const SessionOptions& options, int count);
  ~Towers();
  Towers(const Towers&) = delete;
  Towers& operator=(const Towers&) = delete;

  int count() const { return static_cast<int>(sessions_.size()); }
  // Whether each has a device, and variables, of its own.
  bool apart() const { return !tower_means_.empty(); }
  // How many of the sessions, from the first on, hold the model.
  int copies() const { return apart() ? count() : 1; }
  // Tower 0: its variables are those of all, or as theirs, and its gradients become the mean.
  Session& first() { return *sessions_[0]; }
  Session& session(int tower) { return *sessions_[static_cast<size_t>(tower)]; }

  // Fills all inputs and computes all gradients. The variables must stay as they are meanwhile.
  absl::Status Run(const Fill& fill);
  // Of one tower, or of those that are apart: fills all inputs, and runs what was filled as a whole
  // step (RunKind::kStep), in the halves that Session has. After one has failed, on any, none is
  // under way; nor after one whose loss is no number, which is so for all of them.
  absl::Status FillAll(const Fill& fill);
  absl::Status LaunchStep();
  absl::Status AwaitStep();
  size_t steps_ahead() { return apart() || count() == 1 ? first().steps_ahead() : 0; }
  // Of the last run, or the last step that was awaited: the mean over the towers.
  float loss() const;

 private:
  explicit Towers(std::vector<std::unique_ptr<Session>> sessions);
  // By the threads of all towers.
  absl::Status OnEach(absl::FunctionRef<absl::Status(int tower)> work);
  // By each of those that are apart.
  absl::Status StepOnEach(absl::FunctionRef<absl::Status(Session& session)> half);
  void WorkOn(int tower);
  void Serve(int tower);
  absl::Status MakeMeans();
  absl::Status MakeMeansApart(Collective& collective);
  absl::Status AverageGradients();
  absl::Status LaunchMeans();
  // Of one gradient, the rows of all towers into rows_[i].
  void UniteRowsOf(size_t i);

  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<absl::Status> results_;  // Per tower, of the last run.
  const absl::FunctionRef<absl::Status(int tower)>* work_ = nullptr;  // That is under way.
  // Per variable whose gradient lists rows: those of all towers; lists_ are those of each.
  std::vector<std::vector<int32_t>> rows_;
  std::vector<std::span<const int32_t>> lists_;
  // Of a variable that has a gradient.
  struct Mean {
    size_t variable;
    LoneKernel kernel;
    std::vector<const void*> inputs;
    void* output;
  };
  std::vector<Mean> means_;
  std::unique_ptr<Stream> stream_;
  // Of those that are apart, one of each.
  Collective* collective_ = nullptr;
  std::vector<std::unique_ptr<TowerMean>> tower_means_;
  // Each tower waits for the next round and counts itself out at its end.
  std::atomic<int64_t> round_ = 0;
  std::atomic<int> running_ = 0;
  std::atomic<bool> closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace taas

#endif  // TRAINER_TASK_TOWERS_H_
