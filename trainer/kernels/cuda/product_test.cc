// That what is asked of cuBLASLt is the product that the processor computes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "operator/base/status.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/product_ops.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

absl::StatusOr<Kernel> MatMulBias(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const Kernel product,
                   ProcessorKernel("MatMul", {.attributes = spec.attributes,
                                              .inputs = spec.inputs.first(2),
                                              .outputs = spec.outputs,
                                              .products = spec.products}));
  const std::vector<TensorType> types = {spec.outputs[0], spec.inputs[2]};
  const Attributes none;
  ASSIGN_OR_RETURN(const Kernel sum, ProcessorKernel("BiasAdd", {.attributes = none,
                                                                 .inputs = types,
                                                                 .outputs = spec.outputs}));
  return Kernel{.run = [product, sum](const KernelCall& call) -> absl::Status {
                  RETURN_IF_ERROR(product.run(call));
                  const void* const inputs[] = {call.outputs[0], call.inputs[2]};
                  KernelCall after = call;
                  after.inputs = inputs;
                  return sum.run(after);
                },
                .scratch_bytes = product.scratch_bytes};
}

absl::StatusOr<Kernel> MatMulBiasGrad(const KernelSpec& spec) {
  const Attributes transposed = {{"transpose_a", true}, {"transpose_b", false}};
  ASSIGN_OR_RETURN(const Kernel product,
                   ProcessorKernel("MatMul", {.attributes = transposed,
                                              .inputs = spec.inputs,
                                              .outputs = spec.outputs.first(1),
                                              .products = spec.products}));
  std::vector<int64_t> axes;
  for (int axis = 0; axis + 1 < spec.inputs[1].shape.rank(); ++axis) axes.push_back(axis);
  const Attributes rows = {{"axes", axes}};
  ASSIGN_OR_RETURN(const Kernel sum,
                   ProcessorKernel("ReduceSum", {.attributes = rows,
                                                 .inputs = spec.inputs.subspan(1),
                                                 .outputs = spec.outputs.subspan(1)}));
  return Kernel{.run = [product, sum](const KernelCall& call) -> absl::Status {
                  RETURN_IF_ERROR(product.run(call));
                  KernelCall after = call;
                  after.inputs = call.inputs.subspan(1);
                  after.outputs = call.outputs.subspan(1);
                  return sum.run(after);
                },
                .scratch_bytes = std::max(product.scratch_bytes, sum.scratch_bytes)};
}

// The processor computes a product and what belongs to a bias one after the other.
const KernelRegistry& OneByOne() {
  static const KernelRegistry kKernels = [] {
    KernelRegistry kernels;
    kernels.Add("MatMulBias", "CPU", DType::kFloat32, MatMulBias);
    kernels.Add("MatMulBiasGrad", "CPU", DType::kFloat32, MatMulBiasGrad);
    return kernels;
  }();
  return kKernels;
}

const KernelRegistry& WithoutEpilogues() {
  static const KernelRegistry kKernels = [] {
    KernelRegistry kernels;
    AddProductKernels(&kernels, {.epilogues = false});
    return kernels;
  }();
  return kKernels;
}

// Of m, n and k, with those of which one is nothing.
const std::vector<std::tuple<int, int, int>> kSizes = {{1, 1, 1}, {5, 3, 7}, {4, 8, 12},
                                                       {3, 17, 0}, {0, 4, 2}, {2, 0, 3}};

OpCase WithBias(int m, int n, int k, bool transpose_a, bool transpose_b) {
  return {.op = "MatMulBias",
          .inputs = {RandomFloats(transpose_a ? Shape({k, m}) : Shape({m, k}), 1),
                     RandomFloats(transpose_b ? Shape({n, k}) : Shape({k, n}), 2),
                     RandomFloats(Shape({n}), 3)},
          .attributes = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
          .tolerance = 1e-6,
          .twins = &OneByOne()};
}

OpCase BiasGradient(int m, int n, int k) {
  return {.op = "MatMulBiasGrad",
          .inputs = {RandomFloats(Shape({k, m}), 1), RandomFloats(Shape({k, n}), 2)},
          .tolerance = 1e-6,
          .twins = &OneByOne()};
}

TEST(ProductTest, MatMulIsItsTwinTransposedOrNot) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const auto& [m, n, k] : {std::tuple(1, 1, 1), std::tuple(5, 3, 7),
                                    std::tuple(3, 17, 0), std::tuple(0, 4, 2)}) {
        ExpectTwin({.op = "MatMul",
                    .inputs = {RandomFloats(transpose_a ? Shape({k, m}) : Shape({m, k}), 1),
                               RandomFloats(transpose_b ? Shape({n, k}) : Shape({k, n}), 2)},
                    .attributes = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
                    .tolerance = 1e-6});
      }
    }
  }
}

TEST(ProductTest, RowsOfALongerTensorAreOneMatrix) {
  ExpectTwin({.op = "MatMul",
              .inputs = {RandomFloats(Shape({2, 3, 5}), 1), RandomFloats(Shape({5, 4}), 2)},
              .tolerance = 1e-6});
}

TEST(ProductTest, ABiasIsAddedToEachRowInTheSameCallOrBehindIt) {
  for (const auto& [m, n, k] : kSizes) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        OpCase of = WithBias(m, n, k, transpose_a, transpose_b);
        ExpectTwin(of);
        of.kernels = &WithoutEpilogues();
        ExpectTwin(of);
      }
    }
  }
}

TEST(ProductTest, ABiasGradientIsTheSumOfTheRowsInTheSameCallOrBehindIt) {
  for (const auto& [m, n, k] : kSizes) {
    OpCase of = BiasGradient(m, n, k);
    ExpectTwin(of);
    of.kernels = &WithoutEpilogues();
    ExpectTwin(of);
  }
  // A sum of two launches.
  OpCase of = BiasGradient(3, 5, 700);
  of.tolerance = 1e-5;
  ExpectTwin(of);
  of.kernels = &WithoutEpilogues();
  ExpectTwin(of);
}

TEST(ProductTest, AllAxesButTheLastAreRowsOfBoth) {
  ExpectTwin({.op = "MatMulBias",
              .inputs = {RandomFloats(Shape({2, 3, 5}), 1), RandomFloats(Shape({5, 4}), 2),
                         RandomFloats(Shape({4}), 3)},
              .tolerance = 1e-6,
              .twins = &OneByOne()});
  ExpectTwin({.op = "MatMulBiasGrad",
              .inputs = {RandomFloats(Shape({2, 3, 5}), 1), RandomFloats(Shape({2, 3, 4}), 2)},
              .tolerance = 1e-6,
              .twins = &OneByOne()});
}

TEST(ProductTest, WhatBelongsToABiasIsNoLaunchOfItsOwn) {
  for (OpCase of : {WithBias(5, 3, 7, false, true), BiasGradient(5, 3, 7)}) {
    EXPECT_EQ(CostsOf(of).launches, 1) << of.op;
    of.kernels = &WithoutEpilogues();
    EXPECT_EQ(CostsOf(of).launches, 2) << of.op;
  }
}

// A model that has diverged must be seen.
TEST(ProductTest, ANanOfABiasOrOfAFactorStaysOne) {
  const float nan = std::nanf("");
  OpCase of = WithBias(3, 4, 5, false, false);
  of.inputs[2] = Floats(Shape({4}), {1, nan, 2, 3});
  ExpectTwin(of);
  of = BiasGradient(2, 2, 2);
  of.inputs[1] = Floats(Shape({2, 2}), {1, nan, 2, 3});
  ExpectTwin(of);
}

}  // namespace
}  // namespace taas::cuda
