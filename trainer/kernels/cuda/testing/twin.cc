#include "trainer/kernels/cuda/testing/twin.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/emulate/emulator.h"
#include "trainer/kernels/cuda/cuda_kernels.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/testing/emulated_stream.h"
#include "trainer/kernels/cuda/testing/twin_sides.h"

namespace taas::cuda {
namespace {

using emulate::DeviceBuffer;
using emulate::Emulator;
using emulate::Order;

std::optional<Results> Emulated(const OpCase& of, const Prepared& prepared,
                                const EmulatedStream::Turns& turns) {
  using Buffer = DeviceBuffer<std::byte>;
  const std::optional<Kernel> kernel = MakeKernel(
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

}  // namespace

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

std::vector<HostTensor> OnGpu(const OpCase& of) {
  const Prepared prepared = Prepare(of);
  std::optional<Results> results = Emulated(of, prepared, {});
  std::vector<HostTensor> outputs;
  for (size_t i = 0; results && i < results->outputs.size(); ++i) {
    outputs.push_back(
        {.type = OutputType(of, prepared, i), .bytes = std::move(results->outputs[i])});
  }
  return outputs;
}

OpCosts CostsOf(const OpCase& of) {
  const std::optional<Results> got = Emulated(of, Prepare(of), {});
  return got ? got->costs : OpCosts{};
}

}  // namespace taas::cuda
