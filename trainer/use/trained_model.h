// A trained model: its graph, and its values from a checkpoint or a safetensors file.
//
// Where the configuration keeps moving averages and the file has them, they are the values, as in
// the evaluation of the training.
//
// Ownership: values. Threads: any. Errors: NotFound (no checkpoint there, a variable is missing),
// InvalidArgument (another shape: the file is of another model), each naming file and variable;
// those of data and model.
//
//   ASSIGN_OR_RETURN(const TrainedModel trained, LoadTrainedModel(files, config, "/out"));
//   trained.values[0];  // Of trained.model.graph.Variables()[0].

#ifndef TRAINER_USE_TRAINED_MODEL_H_
#define TRAINER_USE_TRAINED_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/config/trainer_config.h"
#include "trainer/data/columns/feature_columns.h"
#include "trainer/model/model.h"

namespace taas {

struct TrainedModel {
  std::string source;  // "/out/model.ckpt-1000": what was read.
  int64_t step = 0;    // 0 if the file does not say.
  DataShape shape;
  std::shared_ptr<const FeatureColumns> columns;  // Of the data; null if it has none.
  char delimiter = ',';  // Between the values of a table, as the data's configuration has it.
  Model model;
  std::vector<std::vector<float>> values;  // In the order of the graph's variables.

  std::vector<std::span<const float>> spans() const { return {values.begin(), values.end()}; }
};

// The checkpoint with this prefix, or the newest undamaged one of this directory.
absl::StatusOr<std::unique_ptr<BundleReader>> OpenCheckpoint(FileSystem& files,
                                                             const std::string& path);

// What the config.json beside the safetensors of `path` says: spec.trainer.model, of a GPT-2.
// Nothing: `path` has none. Errors name the file.
absl::StatusOr<std::optional<std::string>> ModelBeside(FileSystem& files, const std::string& path);

// `path` is what OpenCheckpoint takes, or a file whose name ends with .safetensors, or a directory
// with a model.safetensors and no checkpoints. Variables of a GPT-2 may have the names that others
// publish it with (trainer/model/gpt2_published.h). How many
// features and classes there are follows from the variables of the models linear, mlp and softmax,
// the context and the vocabulary from those of gpt2, and from feature columns; for others the data
// is loaded.
absl::StatusOr<TrainedModel> LoadTrainedModel(FileSystem& files, const TrainerConfig& config,
                                              const std::string& path);

}  // namespace taas

#endif  // TRAINER_USE_TRAINED_MODEL_H_
