// Writes a SavedModel: a directory that TensorFlow, TensorFlow Serving and its tools load.
//
//   DIR/saved_model.pb                               the graph, its signature, how it is restored
//   DIR/variables/variables.{index,data-00000-of-00001}   the values, a tensor bundle
//
// One graph with the tag "serve" and the signature "serving_default" (tensorflow/serving/predict).
// The graph is that of TensorFlow 1 (no functions), which 1 and 2 load, 2 by
// tf.saved_model.load(DIR).signatures["serving_default"]. Source of the format: the .proto files of
// TensorFlow and what TensorFlow 2.21 writes; trainer/export/tensorflow_test.py holds both against
// each other.
//
// Ownership: borrows all. Threads: any. Errors: Unimplemented for ops without translation;
// InvalidArgument for values that do not fit; the FileSystem's. All is written beside a model that
// is there, which stays if that fails, and then takes its place; for the moment in between DIR has
// no saved_model.pb: readers find a model whole or none.
//
//   RETURN_IF_ERROR(WriteSavedModel(files, "/out/export", {.graph = &graph, …}));

#ifndef TRAINER_EXPORT_SAVED_MODEL_H_
#define TRAINER_EXPORT_SAVED_MODEL_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "operator/base/file_system.h"
#include "trainer/export/tensorflow_graph.h"
#include "trainer/graph/graph.h"

namespace taas {

struct ServedModel {
  const Graph* graph = nullptr;
  // Names in the signature, and values of the graph.
  std::vector<std::pair<std::string, Value>> inputs;
  std::vector<std::pair<std::string, Value>> outputs;
  // The output of a classifier of which "probabilities" (float32[batch, classes]) and "classes"
  // (int64[batch]) are made besides; "" for none.
  std::string logits;
  // In the order of graph->Variables().
  std::vector<std::span<const float>> values;
  InputScale scaled{};
};

absl::Status WriteSavedModel(FileSystem& files, const std::string& dir, const ServedModel& model);

}  // namespace taas

#endif  // TRAINER_EXPORT_SAVED_MODEL_H_
