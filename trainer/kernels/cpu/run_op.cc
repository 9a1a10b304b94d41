#include "trainer/kernels/cpu/run_op.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/kernels/cpu/cpu_kernels.h"

namespace taas {

std::vector<std::vector<float>> RunOp(const char* op, const std::vector<FloatTensor>& inputs,
                                      Attributes attributes, int threads,
                                      bool deterministic) {
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
                                                    .deterministic = deterministic});
  EXPECT_THAT(kernel, IsOk());
  std::vector<std::vector<float>> out;
  std::vector<void*> outputs;
  for (const TensorType& type : node.outputs) {
    out.emplace_back(static_cast<size_t>(type.shape.count()), 77.0f);
  }
  for (std::vector<float>& one : out) outputs.push_back(one.data());
  std::vector<float> scratch(kernel->scratch_bytes / sizeof(float) + 64);
  // On a cache line, as a session has it.
  const size_t off = (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) / sizeof(float);
  EXPECT_THAT(kernel->run({.inputs = pointers,
                           .outputs = outputs,
                           .scratch = scratch.data() + off,
                           .threads = threads}),
              IsOk());
  return out;
}

}  // namespace taas
