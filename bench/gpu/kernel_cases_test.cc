// That the cases are ones that a GPU's kernels take, of the size that a card is asked for, too, and
// that their arrays do not fit into its cache.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/gpu/kernel_cases.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/kernels/cuda/cuda_kernels.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::bench {
namespace {

constexpr int64_t kSizes[] = {int64_t{16} << 10, int64_t{64} << 20};

struct Types {
  std::vector<TensorType> inputs, outputs;
  Attributes attributes;
};

Types TypesOf(const KernelCase& of) {
  Types types;
  if (!of.in_place.empty()) return {{of.inputs[0].type}, {of.inputs[0].type}, of.attributes};
  Graph graph;
  std::vector<Value> values;
  for (const KernelInput& input : of.inputs) {
    types.inputs.push_back(input.type);
    values.push_back(graph.Input("x" + std::to_string(values.size()), input.type));
  }
  const Value made = graph.Add(of.op, "measured", values, of.attributes);
  EXPECT_THAT(graph.status(), IsOk()) << of.name;
  if (!graph.status().ok()) return types;
  types.outputs = graph.node(made).outputs;
  types.attributes = graph.node(made).attributes;
  return types;
}

int64_t BytesOf(const TensorType& type) {
  return type.shape.count() * static_cast<int64_t>(SizeOf(type.dtype));
}

TEST(KernelCasesTest, EachIsOneThatAGpuHasAKernelFor) {
  for (const int64_t bytes : kSizes) {
    for (const KernelCase& of : KernelCases(bytes)) {
      const Types types = TypesOf(of);
      const KernelFactory* const factory =
          cuda::StandardCudaKernels().Find(of.op, cuda::kGpu, of.inputs[0].type.dtype);
      ASSERT_NE(factory, nullptr) << of.name;
      EXPECT_THAT((*factory)({.attributes = types.attributes,
                              .inputs = types.inputs,
                              .outputs = types.outputs})
                      .status(),
                  IsOk())
          << of.name;
    }
  }
}

TEST(KernelCasesTest, TheLargestArrayIsAsLargeAsWasAsked) {
  for (const int64_t bytes : kSizes) {
    for (const KernelCase& of : KernelCases(bytes)) {
      const Types types = TypesOf(of);
      int64_t largest = 0;
      for (const KernelInput& input : of.inputs) largest = std::max(largest, BytesOf(input.type));
      for (const TensorType& output : types.outputs) largest = std::max(largest, BytesOf(output));
      EXPECT_GE(largest, bytes * 9 / 10) << of.name;
      EXPECT_LE(largest, bytes * 5) << of.name;
    }
  }
}

}  // namespace
}  // namespace taas::bench
