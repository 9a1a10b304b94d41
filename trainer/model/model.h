// Named models: what `spec.trainer.model` says, made into a graph.
//
// Ownership: value types. Threads: any. Errors: InvalidArgument naming the field
// ("model.hidden[0]") and, for an unknown model, the names that are known.
//
//   ASSIGN_OR_RETURN(ModelSpec spec, ParseModel(R"({"name":"mlp","hidden":[500]})", {784, 10}));
//   ASSIGN_OR_RETURN(Model model, BuildModel(spec));
//   ASSIGN_OR_RETURN(auto session,
//                    Session::Compile(runtime, model.graph, {.batch = 100, .loss = model.loss}));

#ifndef TRAINER_MODEL_MODEL_H_
#define TRAINER_MODEL_MODEL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/data/augment.h"
#include "trainer/data/columns/column_shape.h"
#include "trainer/data/image_shape.h"
#include "trainer/graph/graph.h"
#include "trainer/model/layer.h"

namespace taas {

// What the data decides about a model.
struct DataShape {
  int64_t features = 0;  // Numbers per example; tokens to predict from.
  int64_t classes = 0;   // Of a classifier.
  int64_t targets = 1;   // Numbers to predict per example, of a regression.
  ImageShape image{};    // What the features are, where they are an image.
  // Of features that are bytes, what they mean: the graph takes them as they are. Without it they
  // are numbers already.
  std::optional<PixelScale> pixels{};
  AugmentOptions augment{};  // Of pixels that are an image, as the graph is trained.
  int64_t vocabulary = 0;  // Of tokens.
  std::vector<ColumnShape> columns{};  // What each feature is, of feature columns.
};

// A column in the deep part of wideDeep: a quantity as it is, categories as a learnt vector each,
// or as a number for each of them that is 1 or 0.
struct DeepColumn {
  std::string column;
  bool indicator = false;
  int64_t units = 0;  // Of an embedding; 0: DefaultUnits of the categories.
};

struct ModelSpec {
  std::string name;                // One of KnownModels().
  std::vector<int64_t> hidden{};   // Sizes of the hidden layers, of models that have some.
  DataShape data{};
  std::vector<LayerSpec> layers{};  // Of model "layers", without the last, which the data decides.
  // The share dropped: before the last layer of lenet and lstm; of the embeddings, and of what each
  // half of a block adds, of gpt2.
  double dropout = 0;
  // Of wideDeep. Without the first all columns of categories are wide; without the second all are
  // deep but the crossed ones, as embeddings.
  std::optional<std::vector<std::string>> wide{};
  std::optional<std::vector<DeepColumn>> deep{};
  int64_t blocks = 12;  // Of gpt2.
  int64_t heads = 12;
  int64_t width = 768;
  // Adds l1 · Σ|w| + l2 · Σw²/2 over all weights, not biases, to the loss.
  double l1 = 0;
  double l2 = 0;
};

// The graph and the names of its ends. A name that a model does not have is "".
struct Model {
  Graph graph;
  // What the data has: one of these three, or of feature columns the quantities and the ids.
  std::string features;  // Input, float32[batch, features].
  std::string pixels;    // Input, uint8[batch, features], or of images [batch, h, w, channels].
  std::string ids;       // Input, int64[batch, features].
  std::string seeds;     // Input, int64[batch], of pixels that are augmented (AugmentSeed).
  std::string labels;    // Input, int32[batch], of a classifier; of tokens int32[batch, steps].
  std::string targets;   // Input, float32[batch, targets], of a regression.
  std::string loss;      // Scalar: the mean over the batch, and the penalties of L1 and L2.
  std::string logits;    // float32[batch, classes], of a classifier; [batch, steps, vocabulary].
  std::string accuracy;  // Scalar: the share of the batch whose largest logit is its label's.
  std::string predictions;  // int32 as the labels, float32[batch, targets] of a regression.

  bool of_tokens = false;  // A model of language: each token of an example has a label.

  // Also of tokens.
  bool is_classifier() const { return !labels.empty(); }
};

// `json` is the object `spec.trainer.model`.
absl::StatusOr<ModelSpec> ParseModel(std::string_view json, const DataShape& data);

// Whether the features of the model are ids (LoadOptions::ids): what it does with them first is to
// look them up. False of what is no model.
bool FeaturesAreIds(std::string_view json);

// The graph to train, or the one to use afterwards: with the same variables in the same order.
absl::StatusOr<Model> BuildModel(const ModelSpec& spec, GraphMode mode = GraphMode::kTraining);

// "gpt2, layers, lenet, …", and those that were registered.
std::string KnownModels();

// What a model learns: classes, numbers, or whichever of the two its data has.
enum class ModelTarget : uint8_t { kClasses, kTargets, kWhatTheDataHas };

// A model of a program of one's own.
struct OwnModel {
  std::string name;  // In spec.trainer.model.
  ModelTarget target = ModelTarget::kClasses;
  // Adds all layers but the last, which has as many outputs as there are classes or targets.
  std::function<void(const ModelSpec& spec, Chain* chain)> add;
  // Those of spec.trainer.model that it takes besides its name: "hidden", "dropout", "layers",
  // "wide", "deep", "blocks", "heads", "width".
  std::vector<std::string> fields{};
  // Its features are ids, int64: the first layer is an embedding.
  bool ids = false;
};

// Before any model is parsed. A name that is taken is a programmer error (CHECK).
void RegisterModel(OwnModel model);

}  // namespace taas

#endif  // TRAINER_MODEL_MODEL_H_
