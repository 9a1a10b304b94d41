#include "trainer/kernels/cpu/fused_kernels.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/graph/fused_program.h"
#include "trainer/loops/loops.h"

namespace taas {
namespace {

// Floats of a block: 8 KB, so that the blocks of two inputs and a result fit the first cache of
// any machine of today, and a loop's start is little beside its work.
constexpr int64_t kBlock = 2048;

// The program with a place in scratch memory for each result that is not the last.
struct Plan {
  FusedProgram program;
  std::vector<int> slots;  // Per instruction; of the last one unused.
  int slot_count = 0;
  std::vector<int64_t> columns;  // Per input: of a vector that is added, its length.
};

// A result's slot is free again when its last reader has read it, which may be the instruction
// that is given the slot: the loops write over their inputs.
Plan PlanOf(FusedProgram program) {
  Plan plan;
  const int count = static_cast<int>(program.size());
  std::vector<int> last(program.size(), -1);
  for (int i = 0; i < count; ++i) {
    const FusedInstruction& instruction = program[static_cast<size_t>(i)];
    if (instruction.a < 0) last[static_cast<size_t>(-1 - instruction.a)] = i;
    if (HasTwoOperands(instruction.code) && instruction.b < 0) {
      last[static_cast<size_t>(-1 - instruction.b)] = i;
    }
  }
  std::vector<int> free;
  for (int i = 0; i < count; ++i) {
    for (int before = 0; before < i; ++before) {
      if (last[static_cast<size_t>(before)] == i) {
        free.push_back(plan.slots[static_cast<size_t>(before)]);
      }
    }
    if (i + 1 == count) {
      plan.slots.push_back(-1);
    } else if (free.empty()) {
      plan.slots.push_back(plan.slot_count++);
    } else {
      plan.slots.push_back(free.back());
      free.pop_back();
    }
  }
  plan.program = std::move(program);
  return plan;
}

using BiasLoop = void (*)(const float*, const float*, float*, int64_t, int64_t);

// Elements [begin, begin + n) of a tensor whose rows get the vector `b` added.
void AddBias(BiasLoop loop, const float* x, const float* b, float* out, int64_t columns,
             int64_t begin, int64_t n) {
  while (n > 0) {
    const int64_t column = begin % columns;
    const int64_t rows = column == 0 && n >= columns ? n / columns : 1;
    const int64_t width = rows > 1 ? columns : std::min(n, columns - column);
    loop(x, b + column, out, rows, width);
    const int64_t done = rows * width;
    x += done;
    out += done;
    begin += done;
    n -= done;
  }
}

struct Operands {
  const float* a;
  const float* b;
  float* out;
  int64_t columns;  // Of a bias.
  int64_t begin;
  int64_t n;
};

void RunInstruction(const Loops& loops, const FusedInstruction& instruction, const Operands& o) {
  switch (instruction.code) {
    case FusedCode::kAdd: return loops.add(o.a, o.b, o.out, o.n);
    case FusedCode::kSub: return loops.sub(o.a, o.b, o.out, o.n);
    case FusedCode::kMul: return loops.mul(o.a, o.b, o.out, o.n);
    case FusedCode::kScale: return loops.scale(o.a, instruction.factor, o.out, o.n);
    case FusedCode::kSquare: return loops.mul(o.a, o.a, o.out, o.n);
    case FusedCode::kRelu: return loops.relu(o.a, o.out, o.n);
    case FusedCode::kSigmoid: return loops.sigmoid(o.a, o.out, o.n);
    case FusedCode::kTanh: return loops.tanh(o.a, o.out, o.n);
    case FusedCode::kReluGrad: return loops.relu_grad(o.a, o.b, o.out, o.n);
    case FusedCode::kSigmoidGrad: return loops.sigmoid_grad(o.a, o.b, o.out, o.n);
    case FusedCode::kTanhGrad: return loops.tanh_grad(o.a, o.b, o.out, o.n);
    case FusedCode::kBiasAdd:
      return AddBias(loops.bias_add, o.a, o.b, o.out, o.columns, o.begin, o.n);
    case FusedCode::kBiasAddRelu:
      return AddBias(loops.bias_add_relu, o.a, o.b, o.out, o.columns, o.begin, o.n);
  }
}

void RunBlock(const Plan& plan, const Loops& loops, const KernelCall& call, int64_t begin,
              int64_t n) {
  auto* const scratch = static_cast<float*>(call.scratch);
  const auto slot = [&](size_t i) { return scratch + plan.slots[i] * kBlock; };
  const auto operand = [&](int index) -> const float* {
    return index < 0 ? slot(static_cast<size_t>(-1 - index))
                     : call.in(static_cast<size_t>(index)) + begin;
  };
  for (size_t i = 0; i < plan.program.size(); ++i) {
    const FusedInstruction& instruction = plan.program[i];
    const bool last = i + 1 == plan.program.size();
    Operands o{.a = operand(instruction.a),
               .b = nullptr,
               .out = last ? call.out() + begin : slot(i),
               .columns = 0,
               .begin = begin,
               .n = n};
    if (AddsBias(instruction.code)) {
      o.b = call.in(static_cast<size_t>(instruction.b));
      o.columns = plan.columns[static_cast<size_t>(instruction.b)];
    } else if (HasTwoOperands(instruction.code)) {
      o.b = operand(instruction.b);
    }
    RunInstruction(loops, instruction, o);
  }
}

absl::StatusOr<Kernel> Fused(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(FusedProgram program, Decode(spec.attributes, spec.inputs.size()));
  Plan plan = PlanOf(std::move(program));
  for (const TensorType& type : spec.inputs) plan.columns.push_back(type.shape.count());
  const int64_t count = spec.outputs[0].shape.count();
  const size_t scratch = static_cast<size_t>(plan.slot_count) * kBlock * sizeof(float);
  return Kernel{.run =
                    [plan = std::move(plan), count, &loops = BestLoops()](const KernelCall& call) {
                      for (int64_t begin = 0; begin < count; begin += kBlock) {
                        RunBlock(plan, loops, call, begin, std::min(kBlock, count - begin));
                      }
                      return absl::OkStatus();
                    },
                .scratch_bytes = scratch};
}

}  // namespace

void AddFusedKernels(KernelRegistry* kernels) {
  kernels->Add("Fused", "CPU", DType::kFloat32, Fused);
}

}  // namespace taas
