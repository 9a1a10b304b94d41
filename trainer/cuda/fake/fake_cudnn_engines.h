// The engines of the cuDNN that stands for NVIDIA's, and what they compute: convolutions in plain
// loops, by the strides that they were told. Most are there to be passed over: one that refuses to
// be finalized, one that is not deterministic, one that wants more workspace than anybody has, and
// some that round.
//
// Ownership: values. Threads: any. Errors: cudnnStatus_t.
//
//   for (const int engine : EnginesFor(conv, kCudnnHeuristicsA)) …
//   Convolve(conv, engine, {x, w, y}, workspace);

#ifndef TRAINER_CUDA_FAKE_FAKE_CUDNN_ENGINES_H_
#define TRAINER_CUDA_FAKE_FAKE_CUDNN_ENGINES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/cuda/cudnn_api.h"

namespace taas::cuda::fake {

// Of floats.
struct FakeTensor {
  int64_t id = 0, alignment = 0;
  std::array<int64_t, 4> dimensions{}, strides{};  // Of NCHW, or KCRS.

  int64_t bytes() const;
};

// An operation: one of the three tensors is computed from the others.
struct FakeConv {
  CudnnType operation = CudnnType::kForward;
  std::array<FakeTensor, 3> tensors{};  // x, w, y.
  std::array<int64_t, 2> stride{}, before{}, after{};

  size_t computed() const;
};

// What is wrong with it: "" for nothing.
std::string WhatIsWrong(const FakeConv& conv);

// Those that the heuristics of a mode propose, best first.
std::vector<int> EnginesFor(const FakeConv& conv, int mode);

struct FakeEngine {
  std::vector<int> notes{};  // cudnnBackendNumericalNote_t.
  int64_t workspace = 0;
  int finalized = kCudnnSuccess;  // What becomes of its plan.
};
FakeEngine EngineOf(const FakeConv& conv, int engine);

// `memory` in the order of the tensors.
void Convolve(const FakeConv& conv, int engine, const std::array<void*, 3>& memory);

// As text that Parse takes; nothing for what is none.
std::string SerializedPlan(const FakeConv& conv, int engine, int version);
int ParsePlan(const std::string& text, int version, FakeConv* conv, int* engine);

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CUDNN_ENGINES_H_
