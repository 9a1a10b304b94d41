// What a trained model says of examples.
//
// Examples come as lines of text, each a JSON array of numbers, an object {"features": […]}, or
// numbers with commas or spaces between them; or as an IDX file of images, whose bytes become
// numbers from 0 to 1 as in training. Where the data has feature columns, an object holds the
// values by name: {"age": 39, "job": "Sales"}; null is missing. Of a model that looks its features
// up all numbers are whole, and bytes are what they are.
//
// Ownership: Predictor owns its session, which reads the values it was given (borrowed). Threads:
// one at a time. Errors: InvalidArgument naming line and what is wrong with it; those of the
// readers.
//
//   ASSIGN_OR_RETURN(auto predictor, Predictor::Make(CpuRuntime(), trained));
//   ASSIGN_OR_RETURN(const Examples examples, ParseExamples(text, "-", FormOf(trained)));
//   RETURN_IF_ERROR(predictor->Predict(examples, [](const Prediction& p) { Print(p); }));

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

// What the model takes, of one example after another.
struct Examples {
  int64_t count = 0;
  std::vector<float> features;
  std::vector<int64_t> ids;
};

class Predictor {
 public:
  // `trained` must outlive the result.
  static absl::StatusOr<std::unique_ptr<Predictor>> Make(const Runtime& runtime,
                                                         TrainedModel& trained);

  // The prediction lives during the call.
  absl::Status Predict(const Examples& examples,
                       const std::function<void(const Prediction&)>& each);

 private:
  Predictor(const TrainedModel& trained, std::unique_ptr<Session> session)
      : trained_(trained), session_(std::move(session)) {}

  const TrainedModel& trained_;
  const std::unique_ptr<Session> session_;
};

// What an example must be to be one of a model.
struct ExampleForm {
  int64_t features = 0;                     // Numbers, where there are no columns.
  bool ids = false;                         // They are looked up.
  const FeatureColumns* columns = nullptr;  // Of the data, if it has some.
  char delimiter = ',';                     // Between the values of a table of such.
};
// Borrows the columns.
ExampleForm FormOf(const TrainedModel& trained);

// Lines of text, from `name`, which is for messages; of data with columns also a CSV whose first
// line names them.
absl::StatusOr<Examples> ParseExamples(std::string_view text, const std::string& name,
                                       const ExampleForm& form);
// A file of either kind.
absl::StatusOr<Examples> ReadExamples(FileSystem& files, const std::string& path,
                                      const ExampleForm& form);

}  // namespace taas

#endif  // TRAINER_USE_PREDICT_H_
