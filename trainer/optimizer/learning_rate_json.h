// The fields of `spec.trainer.optimizer` that say the learning rate: learningRate, decay, warmup,
// scaleByWorkers. Part of Optimizer::Parse.
//
// Ownership: none. Threads: any. Errors: InvalidArgument naming the field.
//
//   RETURN_IF_ERROR(ReadLearningRate(object, /*gradients=*/1, &options.learning_rate));

#ifndef TRAINER_OPTIMIZER_LEARNING_RATE_JSON_H_
#define TRAINER_OPTIMIZER_LEARNING_RATE_JSON_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "third_party/json.h"
#include "trainer/optimizer/learning_rate.h"

namespace taas {

absl::Status ReadLearningRate(const nlohmann::json& optimizer, int64_t gradients,
                              LearningRate* rate);

// A number or a truth value; nothing is read where the field is absent.
absl::Status ReadNumber(const nlohmann::json& object, const std::string& path, const char* name,
                        double* out);
absl::Status ReadBool(const nlohmann::json& object, const std::string& path, const char* name,
                      bool* out);

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_LEARNING_RATE_JSON_H_
