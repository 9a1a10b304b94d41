#include "trainer/kernels/cuda/testing/twin_sides.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_kernels.h"

namespace taas::cuda {
namespace {

size_t BytesOf(const TensorType& type) {
  return static_cast<size_t>(type.shape.count()) * SizeOf(type.dtype);
}

std::span<const float> FloatsOf(const Bytes& bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

struct Difference {
  double relative = 0;  // In parts of the largest element; infinite where only one is a number.
  std::string text;     // "[3] is 1.5, wanted 1.25"
};

// The largest.
Difference DifferenceOf(std::span<const float> got, std::span<const float> wanted) {
  double largest = 0.1;  // Of results that are small differences of numbers around one.
  for (const float value : wanted) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  Difference difference;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i]) && std::isnan(got[i])) continue;
    if (got[i] == wanted[i]) continue;
    double apart = std::abs(static_cast<double>(got[i]) - wanted[i]) / largest;
    if (!std::isfinite(apart)) apart = HUGE_VAL;
    if (apart <= difference.relative) continue;
    difference = {apart, "[" + std::to_string(i) + "] is " + std::to_string(got[i]) +
                             ", wanted " + std::to_string(wanted[i])};
  }
  return difference;
}

}  // namespace

Prepared Prepare(const OpCase& of) {
  if (!of.spec.empty()) return {of.spec, of.spec, of.attributes};
  Graph graph;
  Prepared prepared;
  std::vector<Value> values;
  for (const HostTensor& input : of.inputs) {
    prepared.inputs.push_back(input.type);
    values.push_back(graph.Input("x" + std::to_string(values.size()), input.type));
  }
  const Value y = graph.Add(of.op, of.name, values, of.attributes);
  EXPECT_THAT(graph.status(), IsOk()) << of.op;
  if (!graph.status().ok()) return prepared;
  prepared.outputs = graph.node(y).outputs;
  prepared.attributes = graph.node(y).attributes;  // With their defaults.
  return prepared;
}

std::optional<Kernel> MakeKernel(const OpCase& of, const Prepared& prepared,
                                 const KernelRegistry& kernels, const std::string& type,
                                 Device* device) {
  const KernelFactory* const factory = kernels.Find(of.op, type, prepared.dtype());
  EXPECT_NE(factory, nullptr) << of.op << " for " << type;
  if (factory == nullptr) return std::nullopt;
  absl::StatusOr<Kernel> kernel = (*factory)({.attributes = prepared.attributes,
                                              .inputs = prepared.inputs,
                                              .outputs = prepared.outputs,
                                              .name = of.name,
                                              .seed = of.seed,
                                              .products = of.products,
                                              .device = device});
  EXPECT_THAT(kernel, IsOk()) << of.op << " for " << type;
  if (!kernel.ok()) return std::nullopt;
  return *std::move(kernel);
}

int InPlace(const OpCase& of, size_t output) {
  return output < of.in_place.size() ? of.in_place[output] : -1;
}

size_t OutputsOf(const OpCase& of, const Prepared& prepared) {
  return of.spec.empty() ? prepared.outputs.size() : of.in_place.size();
}

TensorType OutputType(const OpCase& of, const Prepared& prepared, size_t output) {
  const int input = InPlace(of, output);
  return input >= 0 ? of.inputs[static_cast<size_t>(input)].type : prepared.outputs[output];
}

Bytes Before(const OpCase& of, const Prepared& prepared, size_t output) {
  if (!of.before.empty()) return of.before[output].bytes;
  return Bytes(BytesOf(OutputType(of, prepared, output)), kLeftAlone);
}

std::optional<Results> ByTwin(const OpCase& of, const Prepared& prepared) {
  const std::optional<Kernel> kernel =
      MakeKernel(of, prepared, of.twins == nullptr ? StandardKernels() : *of.twins, "CPU");
  if (!kernel) return std::nullopt;
  std::vector<HostTensor> inputs = of.inputs;
  std::vector<const void*> in;
  for (const HostTensor& input : inputs) in.push_back(input.absent ? nullptr : input.bytes.data());
  Results results;
  results.outputs.resize(OutputsOf(of, prepared));
  std::vector<void*> out;
  for (size_t i = 0; i < results.outputs.size(); ++i) {
    const int input = InPlace(of, i);
    if (input < 0) results.outputs[i] = Before(of, prepared, i);
    out.push_back(input < 0 ? results.outputs[i].data()
                            : inputs[static_cast<size_t>(input)].bytes.data());
  }
  Bytes scratch(kernel->scratch_bytes + 256);
  StepBlock block = of.block;
  void* at = scratch.data();
  size_t room = scratch.size();
  const absl::Status status =
      kernel->run({.inputs = in,
                   .outputs = out,
                   .scratch = std::align(256, kernel->scratch_bytes, at, room),
                   .block = &block,
                   .index = of.index});
  EXPECT_THAT(status, IsOk()) << of.op;
  for (size_t i = 0; i < results.outputs.size(); ++i) {
    if (const int input = InPlace(of, i); input >= 0) {
      results.outputs[i] = inputs[static_cast<size_t>(input)].bytes;
    }
  }
  results.fault = block.fault;
  return results;
}

double ExpectSame(const OpCase& of, const Prepared& prepared, const Results& got,
                  const Results& wanted, const std::string& how) {
  double largest = 0;
  for (size_t i = 0; i < wanted.outputs.size() && !of.wrong_data; ++i) {
    const std::string what = of.op + " " + how + ": output " + std::to_string(i);
    if (OutputType(of, prepared, i).dtype == DType::kFloat32) {
      const Difference apart = DifferenceOf(FloatsOf(got.outputs[i]), FloatsOf(wanted.outputs[i]));
      EXPECT_LE(apart.relative, of.tolerance) << what << ": " << apart.text;
      largest = std::max(largest, apart.relative);
    } else {
      EXPECT_EQ(got.outputs[i], wanted.outputs[i]) << what;
    }
  }
  EXPECT_EQ(got.fault.kind, wanted.fault.kind) << of.op << " " << how;
  if (!wanted.fault.found()) return largest;
  EXPECT_EQ(got.fault.kernel, wanted.fault.kernel) << of.op << " " << how;
  EXPECT_EQ(FaultText(got.fault), FaultText(wanted.fault)) << of.op << " " << how;
  return largest;
}

HostTensor RandomFloats(Shape shape, uint64_t seed, double low, double high) {
  SeededRandom random(seed);
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (float& value : values) value = static_cast<float>(low + (high - low) * random.Unit());
  return Floats(std::move(shape), values);
}

HostTensor RandomIntegers(DType dtype, Shape shape, uint64_t seed, int64_t bound) {
  SeededRandom random(seed);
  std::vector<int64_t> values(static_cast<size_t>(shape.count()));
  for (int64_t& value : values) {
    value = static_cast<int64_t>(random.Below(static_cast<uint64_t>(bound)));
  }
  switch (dtype) {
    case DType::kInt32:
      return TensorOf(dtype, std::move(shape), std::vector<int32_t>(values.begin(), values.end()));
    case DType::kUint8:
      return TensorOf(dtype, std::move(shape), std::vector<uint8_t>(values.begin(), values.end()));
    default: return TensorOf(dtype, std::move(shape), values);
  }
}

absl::StatusOr<Kernel> ProcessorKernel(const char* op, const KernelSpec& spec) {
  const KernelFactory* const factory = StandardKernels().Find(op, "CPU", DType::kFloat32);
  CHECK(factory != nullptr) << op;
  return (*factory)(spec);
}

HostTensor OnProcessor(const OpCase& of) {
  const Prepared prepared = Prepare(of);
  std::optional<Results> results = ByTwin(of, prepared);
  if (!results) return {};
  return {.type = prepared.outputs[0], .bytes = std::move(results->outputs[0])};
}

}  // namespace taas::cuda
