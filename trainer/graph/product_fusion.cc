#include "trainer/graph/product_fusion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace taas {
namespace {

class Fuser {
 public:
  Fuser(std::vector<Node>& nodes, const ProductFusion& fusion)
      : nodes_(nodes), fusion_(fusion), readers_(nodes.size(), 0), kept_(nodes.size(), false) {
    for (const Value value : fusion.kept) {
      ++readers_[At(value)];
      kept_[At(value)] = true;
    }
    for (const Value value : fusion.gradients) ++readers_[At(value)];
    // What nobody needs reads nothing.
    for (size_t id = nodes.size(); id-- > 0;) {
      if (readers_[id] == 0) continue;
      for (const Value input : nodes[id].inputs) ++readers_[At(input)];
    }
  }

  std::map<Value, Value> Fuse() {
    for (size_t id = 0; id < nodes_.size(); ++id) {
      if (readers_[id] == 0) continue;
      if (nodes_[id].op == "BiasAdd") FuseBias(nodes_[id]);
      if (nodes_[id].op == "MatMul") FuseBiasGradient(id);
    }
    return std::move(moved_);
  }

 private:
  static size_t At(Value value) { return static_cast<size_t>(value.node); }

  bool ReadsWhatIsUpdated(const Node& node) const {
    return std::ranges::any_of(node.inputs, [this](const Value input) {
      return std::ranges::count(fusion_.updated, input) > 0;
    });
  }

  // `sum` becomes the product that it reads, unless somebody else does.
  void FuseBias(Node& sum) {
    const size_t source = At(sum.inputs[0]);
    const Node& product = nodes_[source];
    // Where the product moves to, what it reads must still be what it was.
    if (product.op != "MatMul" || readers_[source] != 1 || product.device != sum.device ||
        ReadsWhatIsUpdated(product)) {
      return;
    }
    Node merged = sum;
    merged.op = "MatMulBias";
    merged.inputs = {product.inputs[0], product.inputs[1], sum.inputs[1]};
    merged.attributes = product.attributes;
    if (!fusion_.can_run(merged)) return;
    sum = std::move(merged);
    readers_[source] = 0;
  }

  // Of a layer's weights: aᵀ dy, of all rows of both.
  static bool IsWeightsGradient(const Node& product) {
    return product.attributes.Bool("transpose_a") && !product.attributes.Bool("transpose_b");
  }

  static bool SumsRows(const Node& node, Value dy, int rank) {
    if (node.op != "ReduceSum" || node.inputs[0] != dy) return false;
    const std::vector<int64_t>& axes = node.attributes.Ints("axes");
    if (std::ssize(axes) != rank - 1) return false;
    for (int axis = 0; axis + 1 < rank; ++axis) {
      if (axes[static_cast<size_t>(axis)] != axis) return false;
    }
    return true;
  }

  void FuseBiasGradient(size_t id) {
    if (!IsWeightsGradient(nodes_[id])) return;
    const Value dy = nodes_[id].inputs[1];
    const int rank = TypeOf(dy).shape.rank();
    for (size_t sum = At(dy) + 1; sum < nodes_.size(); ++sum) {
      const Node& of_rows = nodes_[sum];
      if (readers_[sum] == 0 || kept_[sum] || of_rows.device != nodes_[id].device ||
          !SumsRows(of_rows, dy, rank) || IsReadBefore(sum, id)) {
        continue;
      }
      Node merged = nodes_[id];
      merged.op = "MatMulBiasGrad";
      merged.attributes = Attributes();
      merged.outputs.push_back(of_rows.outputs[0]);
      if (!fusion_.can_run(merged)) return;
      nodes_[id] = std::move(merged);
      Move({static_cast<NodeId>(sum), 0}, {static_cast<NodeId>(id), 1});
      return;
    }
  }

  const TensorType& TypeOf(Value value) const {
    return nodes_[At(value)].outputs[static_cast<size_t>(value.output)];
  }

  // Whether a node in front of `later` reads what node `id` makes.
  bool IsReadBefore(size_t id, size_t later) const {
    for (size_t reader = id + 1; reader < later; ++reader) {
      if (readers_[reader] == 0) continue;
      const bool reads = std::ranges::any_of(
          nodes_[reader].inputs, [id](const Value input) { return At(input) == id; });
      if (reads) return true;
    }
    return false;
  }

  void Move(Value from, Value to) {
    for (Node& node : nodes_) std::ranges::replace(node.inputs, from, to);
    readers_[At(to)] += readers_[At(from)];
    readers_[At(from)] = 0;
    moved_[from] = to;
  }

  std::vector<Node>& nodes_;
  const ProductFusion& fusion_;
  std::vector<int> readers_;
  std::vector<bool> kept_;
  std::map<Value, Value> moved_;
};

}  // namespace

std::map<Value, Value> FuseProducts(std::vector<Node>* nodes, const ProductFusion& fusion) {
  return Fuser(*nodes, fusion).Fuse();
}

}  // namespace taas
