// What a trained model says of examples.
//
// Examples come as lines of text, each a JSON array of numbers, an object {"features": […]}, or
// numbers with commas or spaces between them; or as an IDX file of images, whose bytes become
// numbers from 0 to 1 as in training. Where the data has feature columns, an object holds the
// values by name: {"age": 39, "job": "Sales"}; null is missing.
//
// Ownership: Predictor owns its session, which reads the values it was given (borrowed). Threads:
// one at a time. Errors: InvalidArgument naming line and what is wrong with it; those of the
// readers.
//
//   ASSIGN_OR_RETURN(auto predictor, Predictor::Make(CpuRuntime(), trained));
//   ASSIGN_OR_RETURN(const std::vector<float> rows, ParseExamples(text, "-", width));
//   RETURN_IF_ERROR(predictor->Predict(rows, [](const Prediction& p) { Print(p); }));

#ifndef TRAINER_USE_PREDICT_H_
#define TRAINER_USE_PREDICT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/graph/session.h"
#include "trainer/use/trained_model.h"

namespace taas {

struct Prediction {
  int64_t label = -1;                // The most probable class; -1 of a regression.
  std::span<const float> values;     // Probabilities, or the predicted numbers.
};

// {"class": 3, "probabilities": […]}, or {"value": 1.5} (a list if a model predicts several).
std::string JsonOf(const Prediction& prediction);

class Predictor {
 public:
  // `trained` must outlive the result.
  static absl::StatusOr<std::unique_ptr<Predictor>> Make(const Runtime& runtime,
                                                         TrainedModel& trained);

  // `rows` holds the features of one example after another. The prediction lives during the call.
  absl::Status Predict(std::span<const float> rows,
                       const std::function<void(const Prediction&)>& each);

 private:
  Predictor(const TrainedModel& trained, std::unique_ptr<Session> session)
      : trained_(trained), session_(std::move(session)) {}

  const TrainedModel& trained_;
  const std::unique_ptr<Session> session_;
};

// Lines of text, from `name`, which is for messages. `columns` of the data, if it has some.
absl::StatusOr<std::vector<float>> ParseExamples(std::string_view text, const std::string& name,
                                                 int64_t features,
                                                 const FeatureColumns* columns = nullptr);
// A file of either kind.
absl::StatusOr<std::vector<float>> ReadExamples(FileSystem& files, const std::string& path,
                                                int64_t features,
                                                const FeatureColumns* columns = nullptr);

}  // namespace taas

#endif  // TRAINER_USE_PREDICT_H_
