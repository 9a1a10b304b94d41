#include "trainer/testing/run_op.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/step_block.h"
#include "trainer/kernels/cpu/bfloat16.h"
#include "trainer/kernels/cpu/cpu_kernels.h"

namespace taas {

FloatTensor RandomTensor(Shape shape, uint64_t seed) {
  SeededRandom random(seed);
  FloatTensor tensor{shape, Floats(static_cast<size_t>(shape.count()))};
  for (float& value : tensor.values) value = static_cast<float>(2 * random.Unit() - 1);
  return tensor;
}

void ExpectNear(const Floats& got, const Doubles& wanted, const std::string& what,
                double tolerance) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  double largest = 0.1;  // Of results that are small differences of numbers around one.
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(got[i]), wanted[i], tolerance * largest)
        << what << " [" << i << "]";
  }
}

double FactorOf(double x, Precision products) {
  if (products == Precision::kFloat32 || !HasBFloat16()) return x;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

FloatTensor FactorsOf(FloatTensor x, Precision products) {
  for (float& value : x.values) value = static_cast<float>(FactorOf(value, products));
  return x;
}

std::vector<Floats> RunOp(const char* op, const std::vector<FloatTensor>& inputs,
                          Attributes attributes, int threads, bool deterministic,
                          Precision products) {
  Graph graph;
  std::vector<Value> values;
  std::vector<TensorType> types;
  std::vector<const void*> pointers;
  for (const FloatTensor& input : inputs) {
    types.push_back({DType::kFloat32, input.shape});
    values.push_back(graph.Input("x" + std::to_string(values.size()), types.back()));
    pointers.push_back(input.values.data());
  }
  const Value y = graph.Add(op, "y", values, std::move(attributes));
  EXPECT_THAT(graph.status(), IsOk());
  if (!graph.status().ok()) return {};
  const Node& node = graph.node(y);
  const KernelFactory* factory = StandardKernels().Find(op, "CPU", DType::kFloat32);
  EXPECT_NE(factory, nullptr) << op;
  if (factory == nullptr) return {};
  const absl::StatusOr<Kernel> kernel = (*factory)({.attributes = node.attributes,
                                                    .inputs = types,
                                                    .outputs = node.outputs,
                                                    .threads = threads,
                                                    .deterministic = deterministic,
                                                    .products = products});
  EXPECT_THAT(kernel, IsOk());
  std::vector<std::vector<float>> out;
  std::vector<void*> outputs;
  for (const TensorType& type : node.outputs) {
    out.emplace_back(static_cast<size_t>(type.shape.count()), 77.0f);
  }
  for (std::vector<float>& one : out) outputs.push_back(one.data());
  // What another kernel has left there.
  std::vector<float> scratch(kernel->scratch_bytes / sizeof(float) + 64, NAN);
  // On a cache line, as a session has it.
  const size_t off = (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) / sizeof(float);
  StepBlock block;
  EXPECT_THAT(kernel->run({.inputs = pointers,
                           .outputs = outputs,
                           .scratch = scratch.data() + off,
                           .threads = threads,
                           .block = &block}),
              IsOk());
  EXPECT_FALSE(block.fault.found()) << FaultText(block.fault);
  return out;
}

}  // namespace taas
