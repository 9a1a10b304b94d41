// Programs against the kernels of their ops, bit by bit, at sizes around the block's.

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/graph/fused_program.h"
#include "trainer/testing/run_op.h"

namespace taas {
namespace {

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// {rows, columns}: less than a block, one, a little more, rows longer than it, rows that straddle.
const std::vector<std::vector<int64_t>> kSizes = {{1, 1},    {3, 7},     {2, 1024}, {1, 2049},
                                                  {5, 3001}, {1000, 13}, {64, 64},  {0, 5}};

TEST(FusedKernelsTest, EachCodeIsItsOp) {
  for (int number = 0; number <= static_cast<int>(FusedCode::kBiasAddRelu); ++number) {
    const auto code = static_cast<FusedCode>(number);
    for (const std::vector<int64_t>& size : kSizes) {
      std::vector<FloatTensor> inputs = {RandomTensor(Shape(size), 1)};
      if (AddsBias(code)) {
        inputs.push_back(RandomTensor(Shape({size[1]}), 2));
      } else if (HasTwoOperands(code)) {
        inputs.push_back(RandomTensor(Shape(size), 2));
      }
      const FusedProgram program = {{.code = code, .a = 0, .b = 1, .factor = 0.7f}};
      Attributes attributes;
      if (code == FusedCode::kScale) attributes.Set("factor", 0.7);
      const std::string op(NameOf(code));
      EXPECT_TRUE(SameBits(RunOp("Fused", inputs, Encode(program))[0],
                           RunOp(op.c_str(), inputs, attributes)[0]))
          << op << " of " << Shape(size).ToString();
    }
  }
}

TEST(FusedKernelsTest, AProgramIsItsOpsOneAfterTheOther) {
  for (const std::vector<int64_t>& size : kSizes) {
    const FloatTensor x = RandomTensor(Shape(size), 1), z = RandomTensor(Shape(size), 2);
    const FloatTensor bias = RandomTensor(Shape({size[1]}), 3);
    // sigmoid(x + bias) · tanh(x - z) + 0.5 z, in which four results are alive at once.
    const FusedProgram program = {
        {.code = FusedCode::kBiasAdd, .a = 0, .b = 2},
        {.code = FusedCode::kSub, .a = 0, .b = 1},
        {.code = FusedCode::kScale, .a = 1, .factor = 0.5f},
        {.code = FusedCode::kSigmoid, .a = ResultOf(0)},
        {.code = FusedCode::kTanh, .a = ResultOf(1)},
        {.code = FusedCode::kMul, .a = ResultOf(3), .b = ResultOf(4)},
        {.code = FusedCode::kAdd, .a = ResultOf(5), .b = ResultOf(2)}};
    const auto run = [&](const char* op, std::vector<FloatTensor> inputs,
                         Attributes attributes = {}) {
      return FloatTensor{Shape(size), RunOp(op, inputs, std::move(attributes))[0]};
    };
    const FloatTensor gate = run("Sigmoid", {run("BiasAdd", {x, bias})});
    const FloatTensor content = run("Tanh", {run("Sub", {x, z})});
    const FloatTensor expected =
        run("Add", {run("Mul", {gate, content}), run("Scale", {z}, {{"factor", 0.5}})});
    EXPECT_TRUE(SameBits(RunOp("Fused", {x, z, bias}, Encode(program))[0], expected.values))
        << Shape(size).ToString();
  }
}

}  // namespace
}  // namespace taas
