// Convolutions of the cuDNN that stands for NVIDIA's: in plain loops, by the strides that they were
// told.
//
// Ownership: values. Threads: any. Errors: none; WhatIsWrong is asked before.
//
//   const FakeConvWork work(conv);
//   work.Compute(engine, {x, w, y});

#ifndef TRAINER_CUDA_FAKE_FAKE_CUDNN_CONV_H_
#define TRAINER_CUDA_FAKE_FAKE_CUDNN_CONV_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/cuda/cudnn_api.h"
#include "trainer/cuda/fake/fake_cudnn_work.h"

namespace taas::cuda::fake {

// An operation: one of the three tensors is computed from the others.
struct FakeConv {
  CudnnType operation = CudnnType::kForward;
  std::array<FakeTensor, 3> tensors{};  // x, w, y.
  std::array<int64_t, 2> stride{}, before{}, after{};

  size_t computed() const;
};

// What is wrong with it: "" for nothing.
std::string WhatIsWrong(const FakeConv& conv);

class FakeConvWork : public FakeWork {
 public:
  explicit FakeConvWork(const FakeConv& conv) : conv_(conv) {}
  std::vector<FakeTensor> tensors() const override {
    return {conv_.tensors.begin(), conv_.tensors.end()};
  }
  std::vector<int> EnginesFor(int mode) const override;
  FakeEngine EngineOf(int engine) const override;
  void Compute(int engine, std::span<void* const> memory) const override;
  std::string Text(int engine, int version) const override;
  // Of the words behind the operation's type; null for what is none.
  static std::shared_ptr<const FakeWork> Parse(CudnnType operation, std::istream& words);

 private:
  const FakeConv conv_;
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CUDNN_CONV_H_
