#include "trainer/graph/chain_fusion.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trainer/graph/fused_program.h"

namespace taas {
namespace {

// Longer ones save no more passes over memory than two of this length do, and hold more blocks in
// the first cache.
constexpr size_t kInstructionsMax = 16;
constexpr size_t kInputsMax = 8;

// A chain under construction: the program with the values that it reads.
struct Chain {
  FusedProgram program;
  std::vector<Value> inputs;
  int result = 0;  // An operand: an input if the chain is Identity alone.
};

class Fuser {
 public:
  Fuser(std::vector<Node>& nodes, const ChainFusion& fusion) : nodes_(nodes), fusion_(fusion) {
    readers_.resize(nodes.size(), 0);
    chains_.resize(nodes.size());
    // A second reader, so that a kept value never joins.
    for (const Value value : fusion.kept) readers_[static_cast<size_t>(value.node)] += 2;
    // What nobody needs reads nothing.
    for (size_t id = nodes.size(); id-- > 0;) {
      if (readers_[id] == 0) continue;
      for (const Value input : nodes[id].inputs) ++readers_[static_cast<size_t>(input.node)];
    }
  }

  void Fuse() {
    for (size_t id = 0; id < nodes_.size(); ++id) {
      if (readers_[id] == 0 || !IsElementwise(nodes_[id])) continue;
      chains_[id] = ChainOf(nodes_[id]);
    }
    for (size_t id = 0; id < nodes_.size(); ++id) {
      if (chains_[id]) Rewrite(nodes_[id], *std::move(chains_[id]));
    }
  }

 private:
  static bool IsElementwise(const Node& node) {
    if (node.outputs.size() != 1) return false;
    return node.op == "Identity" || node.op == "AddN" || FusedCodeOf(node.op).has_value();
  }

  const Node& NodeAt(Value value) const { return nodes_[static_cast<size_t>(value.node)]; }

  bool ReadsWhatIsUpdated(const Node& node) const {
    return std::ranges::any_of(node.inputs, [this](const Value input) {
      return std::ranges::count(fusion_.updated, input) > 0;
    });
  }

  // The chain that computes `input` of `node`, if it may join.
  const Chain* Joins(const Node& node, Value input) const {
    const size_t id = static_cast<size_t>(input.node);
    const Node& source = nodes_[id];
    if (!chains_[id] || readers_[id] != 1 || source.device != node.device ||
        source.outputs[0] != node.outputs[0] || ReadsWhatIsUpdated(source)) {
      return nullptr;
    }
    return &*chains_[id];
  }

  static int AddInput(Chain& chain, Value value) {
    const auto found = std::ranges::find(chain.inputs, value);
    if (found == chain.inputs.end()) {
      chain.inputs.push_back(value);
      return static_cast<int>(chain.inputs.size()) - 1;
    }
    return static_cast<int>(found - chain.inputs.begin());
  }

  // The operand of `chain` that is `input` of `node`; `other` comes in whole if it is one.
  static int Take(Chain& chain, const Chain* other, Value input) {
    if (other == nullptr) return AddInput(chain, input);
    const int base = static_cast<int>(chain.program.size());
    const auto moved = [&](int operand) {
      if (operand < 0) return operand - base;
      return AddInput(chain, other->inputs[static_cast<size_t>(operand)]);
    };
    for (FusedInstruction instruction : other->program) {
      instruction.a = moved(instruction.a);
      if (HasTwoOperands(instruction.code)) instruction.b = moved(instruction.b);
      chain.program.push_back(instruction);
    }
    return moved(other->result);
  }

  Chain ChainOf(const Node& node) const {
    // Only as many join as the chain has room for.
    std::vector<const Chain*> joining;
    size_t instructions = node.inputs.size(), inputs = node.inputs.size();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      // A vector that is added does not join: it is not of the chain's shape.
      const bool bias = i == 1 && (node.op == "BiasAdd" || node.op == "BiasAddRelu");
      const Chain* const other = bias ? nullptr : Joins(node, node.inputs[i]);
      const bool fits = other != nullptr &&
                        instructions + other->program.size() <= kInstructionsMax &&
                        inputs + other->inputs.size() <= kInputsMax + 1;
      joining.push_back(fits ? other : nullptr);
      if (!fits) continue;
      instructions += other->program.size();
      inputs += other->inputs.size() - 1;
    }
    Chain chain;
    std::vector<int> operands;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      operands.push_back(Take(chain, joining[i], node.inputs[i]));
    }
    chain.result = operands[0];
    if (node.op == "Identity") return chain;
    const auto add = [&chain](FusedInstruction instruction) {
      chain.program.push_back(instruction);
      chain.result = ResultOf(static_cast<int>(chain.program.size()) - 1);
    };
    if (node.op == "AddN") {
      for (size_t i = 1; i < operands.size(); ++i) {
        add({.code = FusedCode::kAdd, .a = chain.result, .b = operands[i]});
      }
      return chain;
    }
    const FusedCode code = *FusedCodeOf(node.op);
    add({.code = code,
         .a = operands[0],
         .b = operands.size() > 1 ? operands[1] : 0,
         .factor = code == FusedCode::kScale
                       ? static_cast<float>(node.attributes.Number("factor"))
                       : 1.0f});
    return chain;
  }

  // Input 0 is of the output's shape and, if there is such a one, a value that ends here: the
  // output may be written over it.
  void PutFirst(const Node& node, Chain& chain) const {
    size_t first = 0;
    int best = -1;
    for (size_t i = 0; i < chain.inputs.size(); ++i) {
      const Value input = chain.inputs[i];
      const Node& source = NodeAt(input);
      if (source.outputs[static_cast<size_t>(input.output)] != node.outputs[0] ||
          IsBias(chain, static_cast<int>(i))) {
        continue;
      }
      const bool ends = !source.inputs.empty() && readers_[static_cast<size_t>(input.node)] == 1;
      const int rank = ends ? 1 : 0;
      if (rank <= best) continue;
      best = rank;
      first = i;
    }
    std::swap(chain.inputs[0], chain.inputs[first]);
    const auto moved = [first = static_cast<int>(first)](int operand) {
      return operand == 0 ? first : operand == first ? 0 : operand;
    };
    for (FusedInstruction& instruction : chain.program) {
      instruction.a = moved(instruction.a);
      instruction.b = moved(instruction.b);
    }
  }

  static bool IsBias(const Chain& chain, int input) {
    return std::ranges::any_of(chain.program, [input](const FusedInstruction& instruction) {
      return AddsBias(instruction.code) && instruction.b == input;
    });
  }

  void Rewrite(Node& node, Chain chain) const {
    // AddN has a kernel of its own, of any number of inputs.
    const bool alone = node.op == "AddN" && chain.program.size() + 1 == node.inputs.size();
    if (chain.program.empty() || alone) return;
    Node merged = node;
    if (chain.program.size() == 1) {
      // Without an Identity before or after it, this is what it was.
      const FusedInstruction& only = chain.program[0];
      merged.op = std::string(NameOf(only.code));
      merged.inputs = {chain.inputs[static_cast<size_t>(only.a)]};
      if (HasTwoOperands(only.code)) {
        merged.inputs.push_back(chain.inputs[static_cast<size_t>(only.b)]);
      }
      merged.attributes = Attributes();
      if (only.code == FusedCode::kScale) {
        merged.attributes.Set("factor", static_cast<double>(only.factor));
      }
    } else {
      PutFirst(node, chain);
      merged.op = "Fused";
      merged.inputs = chain.inputs;
      merged.attributes = Encode(chain.program);
    }
    if (fusion_.can_run(merged)) node = std::move(merged);
  }

  std::vector<Node>& nodes_;
  const ChainFusion& fusion_;
  std::vector<int> readers_;
  std::vector<std::optional<Chain>> chains_;  // Of each elementwise node.
};

}  // namespace

void FuseChains(std::vector<Node>* nodes, const ChainFusion& fusion) {
  Fuser(*nodes, fusion).Fuse();
}

}  // namespace taas
