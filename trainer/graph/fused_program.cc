#include "trainer/graph/fused_program.h"

#include <array>
#include <bit>
#include <string>

namespace taas {
namespace {

struct CodeInfo {
  FusedCode code;
  std::string_view name;
  int operands;
  double flops;
};

constexpr std::array<CodeInfo, 13> kCodes = {{
    {FusedCode::kAdd, "Add", 2, 1},
    {FusedCode::kSub, "Sub", 2, 1},
    {FusedCode::kMul, "Mul", 2, 1},
    {FusedCode::kScale, "Scale", 1, 1},
    {FusedCode::kSquare, "Square", 1, 1},
    {FusedCode::kRelu, "Relu", 1, 1},
    {FusedCode::kSigmoid, "Sigmoid", 1, 20},
    {FusedCode::kTanh, "Tanh", 1, 22},
    {FusedCode::kReluGrad, "ReluGrad", 2, 2},
    {FusedCode::kSigmoidGrad, "SigmoidGrad", 2, 2},
    {FusedCode::kTanhGrad, "TanhGrad", 2, 2},
    {FusedCode::kBiasAdd, "BiasAdd", 2, 1},
    {FusedCode::kBiasAddRelu, "BiasAddRelu", 2, 2},
}};

const CodeInfo& InfoOf(FusedCode code) { return kCodes[static_cast<size_t>(code)]; }

// Numbers of one instruction: code, both operands, the bits of the factor.
constexpr size_t kWords = 4;

}  // namespace

std::optional<FusedCode> FusedCodeOf(std::string_view op) {
  for (const CodeInfo& info : kCodes) {
    if (info.name == op) return info.code;
  }
  return std::nullopt;
}

std::string_view NameOf(FusedCode code) { return InfoOf(code).name; }
bool HasTwoOperands(FusedCode code) { return InfoOf(code).operands == 2; }
double FlopsOf(FusedCode code) { return InfoOf(code).flops; }

bool AddsBias(FusedCode code) {
  return code == FusedCode::kBiasAdd || code == FusedCode::kBiasAddRelu;
}

Attributes Encode(const FusedProgram& program) {
  std::vector<int64_t> words;
  std::string ops;
  for (const FusedInstruction& instruction : program) {
    words.push_back(static_cast<int64_t>(instruction.code));
    words.push_back(instruction.a);
    words.push_back(instruction.b);
    words.push_back(std::bit_cast<int32_t>(instruction.factor));
    ops += (ops.empty() ? "" : " ") + std::string(NameOf(instruction.code));
  }
  return {{"program", words}, {"ops", ops}};
}

absl::StatusOr<FusedProgram> Decode(const Attributes& attributes, size_t inputs) {
  const std::vector<int64_t>& words = attributes.Ints("program");
  if (words.empty() || words.size() % kWords != 0) {
    return absl::InvalidArgumentError("the program has " + std::to_string(words.size()) +
                                      " numbers");
  }
  FusedProgram program;
  const auto good = [&](int64_t operand) {
    return operand < static_cast<int64_t>(inputs) && operand >= -std::ssize(program);
  };
  for (size_t at = 0; at < words.size(); at += kWords) {
    const int64_t code = words[at];
    const bool known = code >= 0 && code < std::ssize(kCodes);
    const auto as_code = static_cast<FusedCode>(code);
    if (!known || !good(words[at + 1]) || (HasTwoOperands(as_code) && !good(words[at + 2])) ||
        (AddsBias(as_code) && words[at + 2] < 0)) {
      return absl::InvalidArgumentError("instruction " + std::to_string(at / kWords) +
                                        " of the program is none");
    }
    program.push_back({.code = as_code,
                       .a = static_cast<int>(words[at + 1]),
                       .b = static_cast<int>(words[at + 2]),
                       .factor = std::bit_cast<float>(static_cast<int32_t>(words[at + 3]))});
  }
  return program;
}

}  // namespace taas
