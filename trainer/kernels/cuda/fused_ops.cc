#include "trainer/kernels/cuda/fused_ops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "operator/base/status.h"
#include "trainer/graph/fused_program.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

FusedStepCode CodeOf(FusedCode code) {
  switch (code) {
    case FusedCode::kBiasAdd:  // Its vector is read by columns.
    case FusedCode::kAdd: return FusedStepCode::kAdd;
    case FusedCode::kSub: return FusedStepCode::kSub;
    case FusedCode::kSquare:  // With itself.
    case FusedCode::kMul: return FusedStepCode::kMul;
    case FusedCode::kScale: return FusedStepCode::kScale;
    case FusedCode::kRelu: return FusedStepCode::kRelu;
    case FusedCode::kSigmoid: return FusedStepCode::kSigmoid;
    case FusedCode::kTanh: return FusedStepCode::kTanh;
    case FusedCode::kReluGrad: return FusedStepCode::kReluGrad;
    case FusedCode::kSigmoidGrad: return FusedStepCode::kSigmoidGrad;
    case FusedCode::kTanhGrad: return FusedStepCode::kTanhGrad;
    case FusedCode::kBiasAddRelu: return FusedStepCode::kAddRelu;
  }
  return FusedStepCode::kAdd;
}

int SecondOperand(const FusedInstruction& instruction) {
  if (instruction.code == FusedCode::kSquare) return instruction.a;
  return HasTwoOperands(instruction.code) ? instruction.b : 0;
}

// Where results are kept that others than the next instruction read.
class Kept {
 public:
  explicit Kept(const FusedProgram& program)
      : last_reader_(program.size(), -1), place_(program.size(), FusedStep::kNowhere) {
    for (size_t i = 0; i < program.size(); ++i) {
      for (const int operand : {program[i].a, SecondOperand(program[i])}) {
        if (operand < 0) last_reader_[static_cast<size_t>(-1 - operand)] = static_cast<int>(i);
      }
    }
  }

  // The operand as instruction `i` finds it.
  int8_t Find(int operand, size_t i) const {
    if (operand >= 0) return static_cast<int8_t>(operand);
    const auto result = static_cast<size_t>(-1 - operand);
    if (result + 1 == i) return FusedStep::kLast;
    return static_cast<int8_t>(FusedStep::kKeptFirst - place_[result]);
  }

  // Instruction `i` has read what it reads: where its own result goes. At most `i` are kept.
  int8_t Keep(size_t i) {
    if (last_reader_[i] <= static_cast<int>(i) + 1) return FusedStep::kNowhere;
    std::vector<bool> taken(i + 1, false);
    for (size_t before = 0; before < i; ++before) {
      if (place_[before] != FusedStep::kNowhere && last_reader_[before] > static_cast<int>(i)) {
        taken[static_cast<size_t>(place_[before])] = true;
      }
    }
    place_[i] = static_cast<int8_t>(std::ranges::find(taken, false) - taken.begin());
    return place_[i];
  }

 private:
  std::vector<int> last_reader_;
  std::vector<int8_t> place_;
};

absl::StatusOr<FusedParams> ParamsOf(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const FusedProgram program, Decode(spec.attributes, spec.inputs.size()));
  if (program.size() > FusedParams::kStepsMax || spec.inputs.size() > FusedParams::kInputsMax) {
    return absl::InvalidArgumentError(
        "a chain of " + std::to_string(program.size()) + " ops on " +
        std::to_string(spec.inputs.size()) + " tensors; GPUs compute at most " +
        std::to_string(FusedParams::kStepsMax) + " on " + std::to_string(FusedParams::kInputsMax));
  }
  FusedParams p{};
  Kept kept(program);
  for (size_t i = 0; i < program.size(); ++i) {
    const FusedInstruction& instruction = program[i];
    const bool two = HasTwoOperands(instruction.code) || instruction.code == FusedCode::kSquare;
    FusedStep& step = p.steps[p.count_of_steps++];
    step = {.code = CodeOf(instruction.code),
            .a = kept.Find(instruction.a, i),
            .b = two ? kept.Find(SecondOperand(instruction), i) : FusedStep::kLast,
            .keep = kept.Keep(i),
            .factor = instruction.factor};
    if (step.keep >= FusedParams::kKeptMax) {
      return absl::InvalidArgumentError("a chain that keeps more than " +
                                        std::to_string(FusedParams::kKeptMax) + " results");
    }
    if (AddsBias(instruction.code)) {
      const auto vector = static_cast<size_t>(instruction.b);
      p.columns[vector] = spec.inputs[vector].shape.count();
    }
  }
  p.count = spec.outputs[0].shape.count();
  return p;
}

absl::StatusOr<Kernel> Fused(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const FusedParams params, ParamsOf(spec));
  return Kernel{.run = [params](const KernelCall& call) {
    FusedParams p = params;
    p.y = call.out();
    p.by_fours = ByFours({p.y});
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      p.x[i] = call.in(i);
      p.by_fours = p.by_fours && p.columns[i] % 4 == 0 && ByFours({p.x[i]});
    }
    return Launch(call, kFusedKernel, ForElements(p.count, 4), p);
  }};
}

}  // namespace

void AddFusedKernels(KernelRegistry* kernels) {
  kernels->Add("Fused", kGpu, DType::kFloat32, Fused);
}

}  // namespace taas::cuda
