// Layers, the parts of which chains are made: `spec.trainer.model.layers`, and most named models.
//
// A chain keeps what its layers need to fit together: an example is a vector, a sequence (steps ×
// width) or an image (height × width × channels). A layer that needs a vector flattens; one that
// needs an image or a sequence takes the shape that the data has. A copy of a chain is a second one
// that goes on from the same value.
//
// A max pooling after a convolution goes before the bias and the Relu of that: both leave the order
// of numbers alone, so the values are the same bits, for a part of the work.
//
// Ownership: a Chain borrows its graph. Threads: one at a time. Errors: InvalidArgument that names
// the layer ("model.layers[2] (conv2)") and says what it got and what it needs; they stick, as
// those of a graph do.
//
//   Chain chain(&graph, {.mode = GraphMode::kTraining, .image = {28, 28, 1}}, features);
//   chain.Add({.kind = LayerKind::kConv, .name = "conv1", .units = 32, .window = {5, 5}});
//   RETURN_IF_ERROR(chain.status());

#ifndef TRAINER_MODEL_LAYER_H_
#define TRAINER_MODEL_LAYER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "trainer/data/image_shape.h"
#include "trainer/graph/graph.h"

namespace taas {

// Dropout and batch normalization compute other things in training than afterwards; the variables
// of both graphs are the same, in the same order.
enum class GraphMode : uint8_t { kTraining, kInference };

enum class LayerKind : uint8_t {
  kConv,
  kMaxPool,
  kAvgPool,
  kGlobalAvgPool,
  kFlatten,
  kDense,
  kBatchNorm,
  kDropout,
  kActivation,
  kLayerNorm,
  kEmbedding,
  kLstm,
};
inline constexpr size_t kLayerKinds = 12;

// A layer above this is a typing mistake: its weights alone would not fit the memory of any
// machine.
inline constexpr int64_t kUnitsMax = int64_t{1} << 24;
// Deeper chains than any known are as likely one.
inline constexpr size_t kLayersMax = 512;

// Inputs of a graph that has what the data has: quantities, and whole numbers to be looked up.
inline constexpr char kFeatures[] = "features";
inline constexpr char kIds[] = "ids";

struct LayerSpec {
  LayerKind kind = LayerKind::kDense;
  std::string name{};                  // Scope of its variables; "" counts its kind: "conv2".
  int64_t units = 0;                   // Of dense and lstm; filters of conv, width of embedding.
  std::array<int64_t, 2> window{};     // Height and width, of conv and pools.
  std::array<int64_t, 2> strides{};    // Zeroes: 1 of conv, the window of pools.
  // "SAME" and "VALID" are TensorFlow's; EXPLICIT is `margin` on all sides, of conv and maxPool.
  std::string padding = "SAME";
  int64_t margin = 0;
  std::string activation{};            // An op, "Relu"; "" = none.
  bool bias = true;                    // Of dense and conv.
  double rate = 0;                     // Of dropout: the share that is dropped.
  double decay = 0.99;                 // Of batchNorm: of the moving moments.
  double epsilon = 1e-3;               // Of batchNorm and layerNorm.
  bool sequences = false;              // Of lstm: all its outputs, not the last one.
  int64_t rows = 0;                    // Of embedding: the ids that there are.
};

// `json` is the list `spec.trainer.model.layers`; `path` is its name in messages.
absl::StatusOr<std::vector<LayerSpec>> ParseLayers(const nlohmann::json& json,
                                                   const std::string& path);

class Chain {
 public:
  struct Options {
    GraphMode mode = GraphMode::kTraining;
    ImageShape image{};      // Of the examples, where they are images.
    std::string path = "model.layers";  // Of messages.
  };
  // `x` is float32[batch, features], or ids, int64[batch, features], which an embedding comes first
  // of; `options.image` has as many pixels, or none.
  Chain(Graph* graph, Options options, Value x);

  // Without effect after an error.
  void Add(const LayerSpec& layer);
  // x + the value of `branch`, a copy of this chain that went on from an earlier value.
  void Join(Chain branch);
  // float32[batch, width], flattened if need be.
  Value Flat();

  Value value();
  // What the chain goes on from: a value of ops that are no layers.
  void Set(Value value) {
    x_ = value;
    conv_end_.reset();
  }
  // Of ops that are no layers.
  Graph& graph() { return *graph_; }
  int64_t width() const;  // Of Flat().
  // That of the graph, with the layer that caused it.
  absl::Status status() const;

 private:
  // What a convolution ends with, once it is known what follows.
  struct ConvEnd {
    std::string name;  // The layer's.
    Value biases;      // Not valid: none.
    std::string activation;
  };

  void EndConv();
  void BatchFirst();
  void AddNamed(const LayerSpec& layer);
  void Conv(const LayerSpec& layer);
  void Pool(const LayerSpec& layer);
  void GlobalPool();
  void Dense(const LayerSpec& layer);
  void BatchNorm(const LayerSpec& layer);
  void LayerNorm(const LayerSpec& layer);
  void Embedding(const LayerSpec& layer);
  void Lstm(const LayerSpec& layer);
  void Activate(const std::string& op);
  // False, with the error in the graph, if the values are no images.
  bool NeedImage();
  // [steps, batch, width]; false, with the error in the graph, if the values are no sequences.
  bool NeedSteps();
  bool ok() const { return graph_->status().ok(); }
  const Shape& shape() const { return graph_->type(x_).shape; }

  Graph* const graph_;
  const Options options_;
  Value x_;
  std::optional<ConvEnd> conv_end_;  // Not yet part of x_.
  bool steps_first_ = false;  // The values are sequences in the order that an lstm wants.
  int count_ = 0;
  std::array<int, kLayerKinds> of_kind_{};  // How many of each kind there are.
  std::string failed_;                      // The layer whose error the graph has.
};

}  // namespace taas

#endif  // TRAINER_MODEL_LAYER_H_
