// What a training was told, for TensorBoard's table of hyperparameters (plugin hparams): which
// parameters and metrics there are, their values at the start, and how it ended.
//
// Parameters are the leaves of a JSON object, named by their path ("optimizer.learningRate"); a
// list becomes its text ("[500,100]").
//
// Ownership: values. Threads: any. Errors: none.
//
//   Recorder::Options options{.head = {HparamsExperiment(what), HparamsStart(what)}};
//   recorder.End(HparamsEnd(/*success=*/true, wall));

#ifndef TRAINER_SUMMARY_HPARAMS_H_
#define TRAINER_SUMMARY_HPARAMS_H_

#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "operator/base/clock.h"
#include "trainer/summary/event.pb.h"

namespace taas {

struct TrainingParameters {
  std::string name;                  // Of the job.
  const nlohmann::json* parameters;  // An object.
  std::vector<std::string> metrics;  // Tags of scalars, or "eval/accuracy".
  Clock::WallTime started;
};

summary::Event HparamsExperiment(const TrainingParameters& what);
summary::Event HparamsStart(const TrainingParameters& what);
summary::Summary HparamsEnd(bool success, Clock::WallTime ended);

}  // namespace taas

#endif  // TRAINER_SUMMARY_HPARAMS_H_
