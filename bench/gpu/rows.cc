#include "bench/gpu/rows.h"

#include <optional>

namespace taas::bench {
namespace {

constexpr char kSgd[] = R"({"name": "sgd", "learningRate": 0.01})";
constexpr char kSlow[] = R"({"name": "sgd", "learningRate": 0.001})";
constexpr char kMomentum[] = R"({"name": "momentum", "learningRate": 0.01, "momentum": 0.9})";
constexpr char kAdam[] = R"({"name": "adam", "learningRate": 0.001})";
constexpr char kAdamW[] = R"({"name": "adamw", "learningRate": 0.0003, "weightDecay": 0.1})";

// Both round factors to 8 bits, and add up in another order.
constexpr Tolerance kBFloat16{.training = 2e-2, .loss = 2e-2, .gradients = 1e-1};
// Adam moves by its rate whatever has a gradient, however small: its sign may be rounding's. With
// momentum a ReLU that opens for one image too many goes on to the next step.
constexpr Tolerance kSigns{.training = 5e-3};
// Moments of few examples.
constexpr Tolerance kMoments{.training = 0.2, .loss = 1e-3, .gradients = 1e-2};

// Bytes, which the GPU makes numbers.
DataShape Images(const ImageShape& image, int64_t classes) {
  return {.features = image.pixels(),
          .classes = classes,
          .image = image,
          .pixels = std::optional(PixelScale{})};
}

DataShape Text(int64_t context, int64_t vocabulary) {
  return {.features = context, .vocabulary = vocabulary};
}

// So many columns of quantities, and of so many categories each.
struct Columns {
  int quantities = 0, ids = 0;
  int64_t categories = 0;
};
DataShape Clicks(const Columns& of) {
  DataShape data{.features = of.quantities + of.ids, .classes = 2};
  for (int i = 0; i < of.quantities + of.ids; ++i) {
    data.columns.push_back({.name = "c" + std::to_string(i),
                            .categories = i < of.quantities ? 0 : of.categories});
  }
  return data;
}

const ImageShape kDigit{28, 28, 1};

std::vector<Row> SmallRows() {
  const ImageShape tiny{8, 8, 1};
  return {{"Linear", R"({"name": "linear"})", kSgd, {.features = 5, .targets = 2}, 4},
          {"Softmax", R"({"name": "softmax"})", kSgd, Images({4, 4, 1}, 3), 4},
          {"MLP", R"({"name": "mlp", "hidden": [9]})", kMomentum, Images({4, 4, 1}, 3), 4},
          {"MLP bf16", R"({"name": "mlp", "hidden": [9]})", kMomentum, Images({4, 4, 1}, 3), 4,
           Precision::kBFloat16, kBFloat16},
          {"Layers",
           R"({"name": "layers", "layers": [
               {"type": "conv", "filters": 3, "activation": "gelu"}, {"type": "maxPool"},
               {"type": "dense", "units": 9, "activation": "tanh"}, {"type": "layerNorm"}]})",
           kSgd, Images(tiny, 4), 4},
          {"LeNet", R"({"name": "lenet", "hidden": [16]})", kMomentum, Images(tiny, 4), 4},
          {"LSTM", R"({"name": "lstm", "hidden": [8, 8]})", kAdam,
           Images({6, 4, 1}, 4), 4},
          {"GPT-2", R"({"name": "gpt2", "blocks": 1, "heads": 2, "width": 16})", kAdamW,
           Text(8, 19), 4},
          {"GPT-2 bf16", R"({"name": "gpt2", "blocks": 1, "heads": 2, "width": 16})", kAdamW,
           Text(8, 19), 4, Precision::kBFloat16, kBFloat16},
          {"Wide & Deep", R"({"name": "wideDeep", "hidden": [8]})", kAdam, Clicks({2, 3, 20}), 4}};
}

// Of the networks with batch normalization, which take an emulated GPU long.
Row ResNet20(int64_t size, int64_t batch) {
  return {"ResNet-20",  R"({"name": "resnet20"})", kSlow, Images({size, size, 3}, 10), batch,
          Precision::kFloat32, kMoments};
}

}  // namespace

std::vector<Row> ComparedRows(Size size) {
  std::vector<Row> rows = SmallRows();
  if (size == Size::kSmall) {
    rows.push_back(ResNet20(8, 4));
    return rows;
  }
  for (Row& row : rows) row.name += ", small";
  for (Row& row : std::vector<Row>{
           {"MLP 784-500-10", R"({"name": "mlp", "hidden": [500]})", kSgd, Images(kDigit, 10), 100},
           {"LeNet", R"({"name": "lenet"})", kMomentum, Images(kDigit, 10), 32,
            Precision::kFloat32, kSigns},
           ResNet20(32, 32),
           {"ResNet-50", R"({"name": "resnet50"})", kSlow, Images({224, 224, 3}, 1'000), 2,
            Precision::kFloat32, kMoments},
           {"LSTM 512-512", R"({"name": "lstm", "hidden": [512, 512]})", kSgd,
            Images(kDigit, 10), 16},
           {"GPT-2, 4 blocks", R"({"name": "gpt2", "blocks": 4, "heads": 12, "width": 768})", kSgd,
            Text(64, 50'257), 1},
           {"GPT-2, 4 blocks, bf16",
            R"({"name": "gpt2", "blocks": 4, "heads": 12, "width": 768})", kSgd, Text(64, 50'257),
            1, Precision::kBFloat16, kBFloat16},
           {"Wide & Deep", R"({"name": "wideDeep", "hidden": [1024, 512, 256]})", kAdam,
            Clicks({13, 26, 10'000}), 256, Precision::kFloat32, kSigns}}) {
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> MeasuredRows(Size size) {
  if (size == Size::kSmall) return SmallRows();
  return {
      {"MLP 784-500-10", R"({"name": "mlp", "hidden": [500]})", kSgd, Images(kDigit, 10), 100},
      {"MLP 784-500-10 tf32", R"({"name": "mlp", "hidden": [500]})", kSgd, Images(kDigit, 10), 100,
       Precision::kTf32},
      {"LeNet", R"({"name": "lenet"})", kMomentum, Images(kDigit, 10), 100},
      {"LeNet tf32", R"({"name": "lenet"})", kMomentum, Images(kDigit, 10), 100, Precision::kTf32},
      {"ResNet-50 bf16", R"({"name": "resnet50"})", kMomentum, Images({224, 224, 3}, 1'000), 256,
       Precision::kBFloat16},
      {"LSTM 512-512", R"({"name": "lstm", "hidden": [512, 512]})", kAdam,
       Images(kDigit, 10), 64},
      {"Wide & Deep", R"({"name": "wideDeep", "hidden": [1024, 512, 256]})", kAdam,
       Clicks({13, 26, 100'000}), 4'096},  // As the Criteo data has.
      {"GPT-2 124M bf16", R"({"name": "gpt2"})", kAdamW, Text(1'024, 50'257), 8,
       Precision::kBFloat16}};
}

}  // namespace taas::bench
