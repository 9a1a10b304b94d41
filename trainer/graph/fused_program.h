// What the op "Fused" computes: a chain of elementwise ops as instructions on whole tensors of one
// shape, so that one kernel passes over memory once.
//
// Operands are the node's inputs (0, 1, …) or the results of earlier instructions (Result(i)). The
// result of the last instruction is the output. All operands have the output's shape, but for the
// second of BiasAdd and BiasAddRelu, which is a vector as long as the last axis. Input 0 has the
// output's shape.
//
// In the attributes of a node a program is a list of numbers, "program", and the names of its ops,
// "ops", for people.
//
// Ownership: values. Threads: any. Errors: Decode returns InvalidArgument for what is no program.
//
//   FusedProgram program;
//   program.push_back({.code = FusedCode::kMul, .a = 0, .b = 1});
//   program.push_back({.code = FusedCode::kTanh, .a = ResultOf(0)});
//   Attributes attributes = Encode(program);

#ifndef TRAINER_GRAPH_FUSED_PROGRAM_H_
#define TRAINER_GRAPH_FUSED_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/graph/attributes.h"

namespace taas {

enum class FusedCode : uint8_t {
  kAdd,
  kSub,
  kMul,
  kScale,
  kSquare,
  kRelu,
  kSigmoid,
  kTanh,
  kReluGrad,
  kSigmoidGrad,
  kTanhGrad,
  kBiasAdd,
  kBiasAddRelu,
};

struct FusedInstruction {
  FusedCode code = FusedCode::kAdd;
  int a = 0;
  int b = 0;         // Of codes with two operands.
  float factor = 1;  // Of kScale.
};

using FusedProgram = std::vector<FusedInstruction>;

// The operand that is the result of instruction `i`.
constexpr int ResultOf(int i) { return -1 - i; }

// The op of the same name; nothing if it has no code.
std::optional<FusedCode> FusedCodeOf(std::string_view op);
std::string_view NameOf(FusedCode code);
bool HasTwoOperands(FusedCode code);
// The second operand is a vector.
bool AddsBias(FusedCode code);
// Per element.
double FlopsOf(FusedCode code);

Attributes Encode(const FusedProgram& program);
// `inputs`: how many the node has.
absl::StatusOr<FusedProgram> Decode(const Attributes& attributes, size_t inputs);

}  // namespace taas

#endif  // TRAINER_GRAPH_FUSED_PROGRAM_H_
