// Which gradients of a run are there while it goes on: a gradient is there once each step that
// writes or reads it has ended, and they are told of in one order, whatever the order of the steps.
//
// Ownership: owns its lists. Threads: OnStep from any, at once; the rest while no run goes on.
// Errors: none.
//
//   GradientWatch watch(uses, steps, [](size_t count) { … });
//   watch.Begin();
//   watch.OnStep(3);   // calls `there` with the number of those that are there now, if that rose

#ifndef TRAINER_GRAPH_GRADIENT_WATCH_H_
#define TRAINER_GRAPH_GRADIENT_WATCH_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "trainer/graph/step_runner.h"

namespace taas {

class GradientWatch : public StepWatch {
 public:
  // By gradient, in the order in which they are told of: the steps that use it, each once.
  using Uses = std::vector<std::vector<int>>;

  // `there` is called by whoever ends a step, one call at a time, each with a larger number.
  GradientWatch(const Uses& uses, size_t steps, std::function<void(size_t count)> there);

  void Begin();
  void OnStep(int step) override;

 private:
  const std::function<void(size_t)> there_;
  std::vector<std::vector<size_t>> gradients_of_;  // By step.
  std::vector<size_t> uses_;                       // By gradient.
  std::mutex mutex_;                               // Of what follows.
  std::vector<size_t> left_;                       // Of uses_.
  size_t count_ = 0;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_GRADIENT_WATCH_H_
