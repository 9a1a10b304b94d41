// What the cuDNN that stands for NVIDIA's computes: the work of an operation or a graph, with the
// engines that it has for it. Most are there to be passed over: one that refuses to be finalized,
// one that is not deterministic, one that wants more workspace than anybody has, and some that
// round.
//
// Ownership: values. Threads: any. Errors: cudnnStatus_t.
//
//   for (const int engine : work.EnginesFor(kCudnnHeuristicsA)) …
//   work.Compute(engine, memory);

#ifndef TRAINER_CUDA_FAKE_FAKE_CUDNN_WORK_H_
#define TRAINER_CUDA_FAKE_FAKE_CUDNN_WORK_H_

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/cuda/cudnn_api.h"

namespace taas::cuda::fake {

// What the engines are called; the numbers mean nothing.
inline constexpr int kRefuses = 1, kNotDeterministic = 2, kWantsMuch = 3, kOfTensorCores = 4,
                     kOfRoundedInputs = 5, kOfLargeTiles = 6, kPlain = 7, kOfModeB = 8;
inline constexpr int64_t kMuch = int64_t{1} << 40;
// Of the text of a plan; version and engine come next.
inline constexpr char kPlanHead[] = "{\"plan\": [";

struct FakeTensor {
  int64_t id = 0, alignment = 0;
  std::array<int64_t, 4> dimensions{}, strides{};
  int type = kCudnnFloat;  // Or kCudnnBFloat16.
  bool is_virtual = false, by_value = false;

  bool operator==(const FakeTensor&) const = default;
  int64_t element_bytes() const { return type == kCudnnFloat ? 4 : 2; }
  // From the first to the last.
  int64_t bytes() const {
    int64_t last = 0;
    for (size_t i = 0; i < 4; ++i) last += (dimensions[i] - 1) * strides[i];
    return (last + 1) * element_bytes();
  }
};

struct FakeEngine {
  std::vector<int> notes{};  // cudnnBackendNumericalNote_t.
  int64_t workspace = 0;
  int finalized = kCudnnSuccess;  // What becomes of its plan.
};

class FakeWork {
 public:
  virtual ~FakeWork() = default;
  // What a variant pack has pointers of, in this order.
  virtual std::vector<FakeTensor> tensors() const = 0;
  // Those that the heuristics of a mode propose, best first.
  virtual std::vector<int> EnginesFor(int mode) const = 0;
  virtual FakeEngine EngineOf(int engine) const = 0;
  // `memory` in the order of the tensors.
  virtual void Compute(int engine, std::span<void* const> memory) const = 0;
  // As text that ParsePlan takes.
  virtual std::string Text(int engine, int version) const = 0;
};

// The nearest of so many bits fewer, ties to even.
inline float Rounded(float x, int dropped) {
  if (dropped == 0 || !std::isfinite(x)) return x;
  uint32_t bits = std::bit_cast<uint32_t>(x);
  bits += (1u << (dropped - 1)) - 1 + (bits >> dropped & 1);
  return std::bit_cast<float>(bits >> dropped << dropped);
}

// What an engine does to a result that it should not.
inline float Spoilt(float sum, int engine) {
  static std::atomic<unsigned> draws = 0;
  if (engine == kNotDeterministic) return sum * (1 + 1e-3f * static_cast<float>(++draws % 7));
  return engine == kOfLargeTiles ? sum * 1.001f : sum;
}

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CUDNN_WORK_H_
