// Graphs of several operations of the cuDNN that stands for NVIDIA's: those of which attention in
// bfloat16 and its gradients consist, computed one after the other as they were told, so that what
// is put together wrongly comes to something else. Products round their factors to bfloat16, as
// tensor cores take them, and add up floats; what lies between is of the type that its tensor has.
//
// As the library, it has engines for the patterns that it knows, and for no other.
//
// Ownership: values. Threads: any. Errors: none; WhatIsWrong is asked before.
//
//   const FakeStepsWork work(steps);
//   work.Compute(engine, memory);

#ifndef TRAINER_CUDA_FAKE_FAKE_CUDNN_STEPS_H_
#define TRAINER_CUDA_FAKE_FAKE_CUDNN_STEPS_H_

#include <cstdint>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/cuda/cudnn_api.h"
#include "trainer/cuda/fake/fake_cudnn_work.h"

namespace taas::cuda::fake {

// y = f(x, b): a product, a function of each element, a sum, a transpose, a causal mask, a softmax
// (whose statistics are a second result).
struct FakeStep {
  CudnnType type = CudnnType::kMatmulOperation;
  int mode = 0;  // Of a function: cudnnPointwiseMode_t.
  std::vector<FakeTensor> in{}, out{};

  bool operator==(const FakeStep&) const = default;
};

// What is wrong with a step by itself, or with all in this order: "" for nothing.
std::string WhatIsWrong(const FakeStep& step);
std::string WhatIsWrong(std::span<const FakeStep> steps);

class FakeStepsWork : public FakeWork {
 public:
  explicit FakeStepsWork(std::vector<FakeStep> steps);
  std::vector<FakeTensor> tensors() const override { return tensors_; }
  std::vector<int> EnginesFor(int mode) const override;
  FakeEngine EngineOf(int engine) const override;
  void Compute(int engine, std::span<void* const> memory) const override;
  std::string Text(int engine, int version) const override;
  // Null for what is none.
  static std::shared_ptr<const FakeWork> Parse(std::istream& words);

 private:
  // Functions, products … in their order, a letter each.
  std::string Pattern() const;

  const std::vector<FakeStep> steps_;
  std::vector<FakeTensor> tensors_;
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CUDNN_STEPS_H_
