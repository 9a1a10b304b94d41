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
// Ownership: owns sessions and threads. Threads: one at a time; `fill` is called by the towers'
// threads at the same time, each with its own session. Errors: those of Session; of a run, the
// error of the first tower that has one.
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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/runtime.h"
#include "trainer/graph/session.h"

namespace taas {

class Towers {
 public:
  // Puts a batch into the inputs of `session`, which is that of `tower`.
  using Fill = std::function<absl::Status(int tower, Session& session)>;

  // `count` is at least 1: so many virtual devices of the first of `runtime`.
  static absl::StatusOr<std::unique_ptr<Towers>> Compile(const Runtime& runtime,
                                                         const Graph& graph,
                                                         const SessionOptions& options, int count);
  ~Towers();
  Towers(const Towers&) = delete;
  Towers& operator=(const Towers&) = delete;

  int count() const { return static_cast<int>(sessions_.size()); }
  // Tower 0: it owns the variables of all, and its gradients become the mean.
  Session& first() { return *sessions_[0]; }
  Session& session(int tower) { return *sessions_[static_cast<size_t>(tower)]; }

  // Fills all inputs and computes all gradients. The variables must stay as they are meanwhile.
  absl::Status Run(const Fill& fill);
  // Of the last run: the mean over the towers.
  float loss() const;

 private:
  explicit Towers(std::vector<std::unique_ptr<Session>> sessions);
  void RunTower(int tower);
  void Serve(int tower);
  absl::Status MakeMeans();
  absl::Status AverageGradients();
  absl::Status LaunchMeans();
  // Of one gradient, the rows of all towers into rows_[i].
  void UniteRowsOf(size_t i);

  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<absl::Status> results_;  // Per tower, of the last run.
  const Fill* fill_ = nullptr;         // Of the run that is under way.
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
  // Each tower waits for the next round and counts itself out at its end.
  std::atomic<int64_t> round_ = 0;
  std::atomic<int> running_ = 0;
  std::atomic<bool> closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace taas

#endif  // TRAINER_TASK_TOWERS_H_
