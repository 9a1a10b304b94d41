#include "bench/gpu/kernel_cases.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "operator/base/check.h"
#include "trainer/graph/fused_program.h"
#include "trainer/optimizer/optimizer.h"

namespace taas::bench {
namespace {

using Ints = std::vector<int64_t>;

KernelInput Floats(Shape shape, double low = -1) {
  return {.type = {DType::kFloat32, std::move(shape)}, .low = low};
}
KernelInput Whole(DType dtype, Shape shape, int64_t bound) {
  return {.type = {dtype, std::move(shape)}, .bound = bound};
}

void AddElementwise(int64_t n, std::vector<KernelCase>* cases) {
  const KernelInput x = Floats(Shape({n})), rows = Floats(Shape({n / 1'024, 1'024}));
  cases->push_back({"Add", "Add", {x, x}});
  cases->push_back({"Scale", "Scale", {x}, {{"factor", 0.5}}});
  cases->push_back({"Relu", "Relu", {x}});
  cases->push_back({"ReluGrad", "ReluGrad", {x, x}});
  cases->push_back({"Gelu", "Gelu", {x}});
  cases->push_back({"GeluGrad", "GeluGrad", {x, x}});
  cases->push_back({"Dropout", "Dropout", {x}, {{"rate", 0.1}}});
  cases->push_back({"BiasAddRelu, fused", "Fused", {rows, Floats(Shape({1'024}))},
                    Encode({{.code = FusedCode::kBiasAddRelu, .a = 0, .b = 1}})});
  cases->push_back({"DecodePixels", "DecodePixels", {Whole(DType::kUint8, Shape({n}), 256)},
                    {{"scale", 0.017}, {"offset", -2.1}}});
}

void AddRows(int64_t n, std::vector<KernelCase>* cases) {
  const Shape rows({n / 1'024, 1'024}), tokens({n / 768, 768}), width({768});
  const KernelInput labels = Whole(DType::kInt32, Shape({n / 1'024}), 1'024);
  cases->push_back({"SoftmaxLoss of 1,024", "SparseSoftmaxCrossEntropy", {Floats(rows), labels}});
  cases->push_back({"SoftmaxLossGrad of 1,024", "SparseSoftmaxCrossEntropyGrad",
                    {Floats(rows, 0), labels, Floats(Shape())}});
  const int64_t words = std::min<int64_t>(50'257, n / 4);
  cases->push_back({"SoftmaxLoss of 50,257", "SparseSoftmaxCrossEntropy",
                    {Floats(Shape({n / words, words})),
                     Whole(DType::kInt32, Shape({n / words}), words)}});
  cases->push_back({"LayerNorm of 768", "LayerNorm",
                    {Floats(tokens), Floats(width), Floats(width)}});
  cases->push_back({"LayerNormGrad of 768", "LayerNormGrad",
                    {Floats(tokens), Floats(tokens), Floats(width), Floats(Shape({n / 768})),
                     Floats(Shape({n / 768}), 0.5)}});
  cases->push_back({"ReduceSum of columns", "ReduceSum", {Floats(rows)}, {{"axes", Ints{0}}}});
  cases->push_back({"ReduceSum of rows", "ReduceSum", {Floats(rows)}, {{"axes", Ints{1}}}});
  cases->push_back({"SwapLeading", "SwapLeading", {Floats(rows)}});
  const KernelInput half = Floats(Shape({n / 1'024, 512}));
  cases->push_back({"Concat", "Concat", {half, half}, {{"axis", int64_t{1}}}});
}

void AddImages(int64_t n, std::vector<KernelCase>* cases) {
  const int64_t side = n >= 56 * 56 * 64 ? 56 : 8, images = n / (side * side * 64);
  const Shape image({images, side, side, 64}), pooled({images, side / 2, side / 2, 64});
  const KernelInput channels = Floats(Shape({64}), 0.5);
  cases->push_back({"BatchNorm of 64", "BatchNorm", {Floats(image), channels, channels}});
  cases->push_back({"BatchNormGrad of 64", "BatchNormGrad",
                    {Floats(image), Floats(image), channels, channels, channels}});
  const Attributes window{{"size", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"padding", "SAME"}};
  cases->push_back({"MaxPool 3 x 3 by 2", "MaxPool", {Floats(image)}, window});
  cases->push_back({"MaxPoolGrad 3 x 3 by 2", "MaxPoolGrad",
                    {Floats(pooled), Floats(image), Floats(pooled)}, window});
  cases->push_back({"ReduceMean of images", "ReduceMean", {Floats(image)},
                    {{"axes", Ints{1, 2}}}});
}

// What is looked up is moved, not the table.
void AddLookups(int64_t n, std::vector<KernelCase>* cases) {
  const int64_t looked_up = n / 768, table = std::min<int64_t>(50'257, looked_up);
  const KernelInput ids = Whole(DType::kInt64, Shape({looked_up}), table);
  cases->push_back({.name = "Embedding of 768",
                    .op = "Embedding",
                    .inputs = {Floats(Shape({table, 768})), ids},
                    .moved_bytes = looked_up * (2 * 768 * 4 + 8)});
  cases->push_back({"EmbeddingGrad of 768", "EmbeddingGrad",
                    {Floats(Shape({looked_up, 768})), ids}, {{"rows", table}}});
}

void AddUpdates(int64_t n, std::vector<KernelCase>* cases) {
  for (const char* const rule : {R"({"name": "sgd", "learningRate": 0.001})",
                                 R"({"name": "momentum", "learningRate": 0.001})",
                                 R"({"name": "adam", "learningRate": 0.001})"}) {
    const auto optimizer = Optimizer::Parse(rule);
    CHECK(optimizer.ok()) << optimizer.status();
    const Shape shape({n});
    KernelCase of{.name = std::string((*optimizer)->update_op()),
                  .op = std::string((*optimizer)->update_op()),
                  .inputs = {Floats(shape), Floats(shape)},
                  .attributes = (*optimizer)->update_attributes(),
                  .block = {.step = 2, .update = (*optimizer)->scalars(2)},
                  .in_place = {1}};
    for (size_t slot = 0; slot < (*optimizer)->slots().size(); ++slot) {
      of.in_place.push_back(of.inputs.size());
      of.inputs.push_back(Floats(shape, 0));
    }
    for (int i = 0; i < 2; ++i) {  // It lists no rows.
      of.inputs.push_back({.type = {DType::kInt32, Shape({0})}, .absent = true});
    }
    cases->push_back(std::move(of));
  }
}

}  // namespace

std::vector<KernelCase> KernelCases(int64_t bytes) {
  const int64_t n = bytes / 4 / 4'096 * 4'096;
  std::vector<KernelCase> cases;
  AddElementwise(n, &cases);
  AddRows(n, &cases);
  AddImages(n, &cases);
  AddLookups(n, &cases);
  AddUpdates(n, &cases);
  return cases;
}

}  // namespace taas::bench
