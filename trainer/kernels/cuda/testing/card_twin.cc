#include "trainer/kernels/cuda/testing/card_twin.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "operator/base/status.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/cuda_stream.h"
#include "trainer/kernels/cuda/cuda_kernels.h"
#include "trainer/kernels/cuda/testing/twin_sides.h"

namespace taas::cuda {
namespace {

CardTwins* its = nullptr;

// Counts what is launched into the card's stream.
class CountedStream : public CudaStream {
 public:
  explicit CountedStream(const CudaDevice& device) : CudaStream(device) {}
  absl::Status LaunchFunction(int kernel, const Grid& grid, const void* params) override {
    ++launches_;
    return CudaStream::LaunchFunction(kernel, grid, params);
  }
  absl::Status Multiply(const Product& product) override {
    ++launches_;
    return CudaStream::Multiply(product);
  }
  absl::Status Convolve(const ConvPlan& plan, const ConvTensors& tensors) override {
    ++launches_;
    return CudaStream::Convolve(plan, tensors);
  }
  absl::Status Attend(const AttentionPlan& plan, const AttentionTensors& tensors) override {
    ++launches_;
    return CudaStream::Attend(plan, tensors);
  }
  int launches() const { return launches_; }

 private:
  int launches_ = 0;
};

// The memory of one run, each tensor in an allocation of its own, so that a checker of memory sees
// what goes beyond.
class CardRun {
 public:
  CardRun(CudaDevice& device, const OpCase& of, const Prepared& prepared)
      : device_(device), of_(of), prepared_(prepared), stream_(device) {}

  absl::StatusOr<Results> Run(const Kernel& kernel) {
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const HostTensor& input : of_.inputs) {
      ASSIGN_OR_RETURN(std::byte* const memory, Place(input.bytes));
      in.push_back(input.absent ? nullptr : memory);
    }
    for (size_t i = 0; i < OutputsOf(of_, prepared_); ++i) {
      const int input = InPlace(of_, i);
      results_in_.push_back(input < 0 ? buffers_.size() : static_cast<size_t>(input));
      if (input < 0) {
        RETURN_IF_ERROR(Place(Before(of_, prepared_, i)).status());
      }
      out.push_back(buffers_[results_in_.back()].data() + of_.behind);
    }
    ASSIGN_OR_RETURN(const Buffer scratch,
                     device_.Allocate(kernel.scratch_bytes, MemoryKind::kDevice));
    ASSIGN_OR_RETURN(const Buffer block,
                     device_.Allocate(sizeof(StepBlock), MemoryKind::kDevice));
    RETURN_IF_ERROR(stream_.Copy(block.data(), &of_.block, sizeof(StepBlock)));
    const absl::Status launched =
        stream_.Launch(kernel, {.inputs = in,
                                .outputs = out,
                                .scratch = scratch.data(),
                                .block = reinterpret_cast<StepBlock*>(block.data()),
                                .index = of_.index,
                                .stream = &stream_});
    RETURN_IF_ERROR(Await(stream_, launched));
    return Read(block);
  }

 private:
  absl::StatusOr<std::byte*> Place(const Bytes& bytes) {
    ASSIGN_OR_RETURN(Buffer buffer,
                     device_.Allocate(of_.behind + bytes.size(), MemoryKind::kDevice));
    std::byte* const memory = buffer.data() + of_.behind;
    buffers_.push_back(std::move(buffer));
    sizes_.push_back(bytes.size());
    RETURN_IF_ERROR(Await(stream_, stream_.Copy(memory, bytes.data(), bytes.size())));
    return memory;
  }

  absl::StatusOr<Results> Read(const Buffer& block) {
    Results results{.outputs = {}, .fault = {}, .costs = {.of_card = true}};
    results.costs.launches = stream_.launches();
    for (const size_t at : results_in_) {
      Bytes bytes(sizes_[at]);
      const std::byte* const memory = buffers_[at].data() + of_.behind;
      RETURN_IF_ERROR(Await(stream_, stream_.Copy(bytes.data(), memory, bytes.size())));
      results.outputs.push_back(std::move(bytes));
    }
    StepBlock after;
    RETURN_IF_ERROR(Await(stream_, stream_.Copy(&after, block.data(), sizeof(after))));
    results.fault = after.fault;
    return results;
  }

  CudaDevice& device_;
  const OpCase& of_;
  const Prepared& prepared_;
  CountedStream stream_;
  std::vector<Buffer> buffers_;
  std::vector<size_t> sizes_;       // Of what lies in them, behind of_.behind.
  std::vector<size_t> results_in_;  // Of each output, which buffer.
};

std::optional<Results> OnCard(const OpCase& of, const Prepared& prepared) {
  CHECK(its != nullptr) << "there are no CardTwins";
  const std::optional<Kernel> kernel = MakeKernel(
      of, prepared, of.kernels == nullptr ? StandardCudaKernels() : *of.kernels, kGpu,
      &its->device());
  if (!kernel) return std::nullopt;
  absl::StatusOr<Results> results = CardRun(its->device(), of, prepared).Run(*kernel);
  EXPECT_THAT(results.status(), IsOk()) << of.op;
  return results.ok() ? std::optional(*std::move(results)) : std::nullopt;
}

}  // namespace

CardTwins::CardTwins(CudaDevice& device) : device_(device) {
  CHECK(its == nullptr) << "there are CardTwins already";
  its = this;
}

CardTwins::~CardTwins() { its = nullptr; }

void ExpectTwin(const OpCase& of) {
  const Prepared prepared = Prepare(of);
  const std::optional<Results> wanted = ByTwin(of, prepared);
  if (!wanted) return;
  const std::optional<Results> got = OnCard(of, prepared);
  if (!got) return;
  its->Add({of.op, prepared.dtype()},
           {.cases = 1,
            .difference = ExpectSame(of, prepared, *got, *wanted, "on the card"),
            .tolerance = of.tolerance});
  const std::optional<Results> again = OnCard(of, prepared);
  if (!again || of.wrong_data) return;
  EXPECT_EQ(again->outputs, got->outputs) << of.op << ": other bits in the second run";
}

std::vector<HostTensor> OnGpu(const OpCase& of) {
  const Prepared prepared = Prepare(of);
  const std::optional<Results> results = OnCard(of, prepared);
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < OutputsOf(of, prepared); ++i) {
    // Of a card that has failed what was there before, so that the test goes on.
    outputs.push_back({.type = OutputType(of, prepared, i),
                       .bytes = results ? results->outputs[i] : Before(of, prepared, i)});
  }
  return outputs;
}

OpCosts CostsOf(const OpCase& of) {
  const std::optional<Results> got = OnCard(of, Prepare(of));
  return got ? got->costs : OpCosts{.of_card = true};
}

}  // namespace taas::cuda
