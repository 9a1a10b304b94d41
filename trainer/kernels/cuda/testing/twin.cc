#include "trainer/kernels/cuda/testing/twin.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/emulate/emulator.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/kernels/cpu/cpu_kernels.h"
#include "trainer/kernels/cuda/cuda_kernels.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/testing/emulated_stream.h"

namespace taas::cuda {
namespace {

using emulate::DeviceBuffer;
using emulate::Emulator;
using emulate::Order;
using Bytes = std::vector<std::byte>;

constexpr std::byte kLeftAlone{77};

// What the kernels of both sides are made from and given.
struct Prepared {
  std::vector<TensorType> inputs, outputs;
  Attributes attributes;
};

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

std::optional<Kernel> Make(const OpCase& of, const Prepared& prepared,
                           const KernelRegistry& kernels, const std::string& device) {
  const DType dtype = prepared.inputs.empty() ? DType::kFloat32 : prepared.inputs[0].dtype;
  const KernelFactory* const factory = kernels.Find(of.op, device, dtype);
  EXPECT_NE(factory, nullptr) << of.op << " for " << device;
  if (factory == nullptr) return std::nullopt;
  absl::StatusOr<Kernel> kernel = (*factory)({.attributes = prepared.attributes,
                                              .inputs = prepared.inputs,
                                              .outputs = prepared.outputs,
                                              .name = of.name,
                                              .seed = of.seed});
  EXPECT_THAT(kernel, IsOk()) << of.op << " for " << device;
  if (!kernel.ok()) return std::nullopt;
  return *std::move(kernel);
}

int InPlace(const OpCase& of, size_t output) {
  return output < of.in_place.size() ? of.in_place[output] : -1;
}

size_t OutputsOf(const OpCase& of, const Prepared& prepared) {
  return of.spec.empty() ? prepared.outputs.size() : of.in_place.size();
}

size_t BytesOf(const TensorType& type) {
  return static_cast<size_t>(type.shape.count()) * SizeOf(type.dtype);
}

Bytes Before(const OpCase& of, const Prepared& prepared, size_t output) {
  if (!of.before.empty()) return of.before[output].bytes;
  return Bytes(BytesOf(prepared.outputs[output]), kLeftAlone);
}

struct Results {
  std::vector<Bytes> outputs;
  Fault fault;
  OpCosts costs;
};

std::optional<Results> ByTwin(const OpCase& of, const Prepared& prepared) {
  const std::optional<Kernel> kernel = Make(of, prepared, StandardKernels(), "CPU");
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

std::optional<Results> Emulated(const OpCase& of, const Prepared& prepared,
                                const EmulatedStream::Turns& turns) {
  using Buffer = DeviceBuffer<std::byte>;
  const std::optional<Kernel> kernel = Make(
      of, prepared, of.kernels == nullptr ? StandardCudaKernels() : *of.kernels, kGpu);
  if (!kernel) return std::nullopt;
  Emulator emulator;
  EmulatedStream stream(emulator, turns);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<const void*> in;
  for (const HostTensor& input : of.inputs) {
    Bytes bytes(of.behind);
    bytes.insert(bytes.end(), input.bytes.begin(), input.bytes.end());
    buffers.push_back(std::make_unique<Buffer>(
        emulator, "input " + std::to_string(buffers.size()), std::span<const std::byte>(bytes)));
    in.push_back(input.absent ? nullptr : buffers.back()->data() + of.behind);
  }
  std::vector<void*> out;
  std::vector<Buffer*> results_in;
  for (size_t i = 0; i < OutputsOf(of, prepared); ++i) {
    Buffer* buffer = nullptr;
    if (const int input = InPlace(of, i); input >= 0) {
      buffer = buffers[static_cast<size_t>(input)].get();
    } else {
      const std::string name = "output " + std::to_string(i);
      Bytes before = Before(of, prepared, i);
      before.insert(before.begin(), of.behind, kLeftAlone);
      buffers.push_back(of.before.empty()
                            ? std::make_unique<Buffer>(emulator, name, before.size())
                            : std::make_unique<Buffer>(emulator, name, before));
      buffer = buffers.back().get();
      std::ranges::copy(before, buffer->data());
    }
    out.push_back(buffer->data() + of.behind);
    results_in.push_back(buffer);
  }
  const DeviceBuffer<StepBlock> block(emulator, "the step's block", {&of.block, 1});
  const Buffer scratch(emulator, "scratch", kernel->scratch_bytes);
  const absl::Status status = kernel->run({.inputs = in,
                                           .outputs = out,
                                           .scratch = scratch.data(),
                                           .block = block.data(),
                                           .index = of.index,
                                           .stream = &stream});
  EXPECT_THAT(status, IsOk()) << of.op;
  Results results{.outputs = {}, .fault = block.Read()[0].fault, .costs = {}};
  for (const Buffer* const buffer : results_in) {
    const Bytes bytes = buffer->Read();
    results.outputs.emplace_back(bytes.begin() + static_cast<ptrdiff_t>(of.behind), bytes.end());
  }
  results.costs = {stream.launches(), stream.counts().barriers, stream.counts().read_bytes,
                   stream.counts().written_bytes};
  return status.ok() ? std::optional(std::move(results)) : std::nullopt;
}

void ExpectNear(std::span<const float> got, std::span<const float> wanted, double tolerance,
                const std::string& what) {
  double largest = 0.1;  // Of results that are small differences of numbers around one.
  for (const float value : wanted) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i]) && std::isnan(got[i])) continue;
    if (got[i] == wanted[i]) continue;
    ASSERT_NEAR(got[i], wanted[i], tolerance * largest) << what << " [" << i << "]";
  }
}

void ExpectSame(const OpCase& of, const Prepared& prepared, const Results& got,
                const Results& wanted, const std::string& how) {
  for (size_t i = 0; i < wanted.outputs.size() && !of.wrong_data; ++i) {
    const std::string what = of.op + " " + how + ": output " + std::to_string(i);
    const int input = InPlace(of, i);
    const DType dtype = input >= 0 ? of.inputs[static_cast<size_t>(input)].type.dtype
                                   : prepared.outputs[i].dtype;
    const auto floats = [](const Bytes& bytes) {
      return std::span(reinterpret_cast<const float*>(bytes.data()),
                       bytes.size() / sizeof(float));
    };
    if (dtype == DType::kFloat32) {
      ExpectNear(floats(got.outputs[i]), floats(wanted.outputs[i]), of.tolerance, what);
    } else {
      EXPECT_EQ(got.outputs[i], wanted.outputs[i]) << what;
    }
  }
  EXPECT_EQ(got.fault.kind, wanted.fault.kind) << of.op << " " << how;
  if (!wanted.fault.found()) return;
  EXPECT_EQ(got.fault.kernel, wanted.fault.kernel) << of.op << " " << how;
  EXPECT_EQ(FaultText(got.fault), FaultText(wanted.fault)) << of.op << " " << how;
}

}  // namespace

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

void ExpectTwin(const OpCase& of) {
  const Prepared prepared = Prepare(of);
  const std::optional<Results> wanted = ByTwin(of, prepared);
  if (!wanted) return;
  for (int turns = 0; turns < of.orders; ++turns) {
    const Order order = turns == 0   ? Order::kAscending
                        : turns == 1 ? Order::kDescending
                                     : Order::kSeeded;
    const std::optional<Results> got =
        Emulated(of, prepared, {order, static_cast<uint64_t>(turns)});
    if (!got) return;
    ExpectSame(of, prepared, *got, *wanted, "in order " + std::to_string(turns));
    if (testing::Test::HasFailure()) return;
  }
}

HostTensor OnProcessor(const OpCase& of) {
  const Prepared prepared = Prepare(of);
  std::optional<Results> results = ByTwin(of, prepared);
  if (!results) return {};
  return {.type = prepared.outputs[0], .bytes = std::move(results->outputs[0])};
}

std::vector<HostTensor> OnGpu(const OpCase& of) {
  const Prepared prepared = Prepare(of);
  std::optional<Results> results = Emulated(of, prepared, {});
  std::vector<HostTensor> outputs;
  for (size_t i = 0; results && i < results->outputs.size(); ++i) {
    outputs.push_back({.type = prepared.outputs[i], .bytes = std::move(results->outputs[i])});
  }
  return outputs;
}

OpCosts CostsOf(const OpCase& of) {
  const std::optional<Results> got = Emulated(of, Prepare(of), {});
  return got ? got->costs : OpCosts{};
}

}  // namespace taas::cuda
