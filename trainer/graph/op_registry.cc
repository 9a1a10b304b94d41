#include "trainer/graph/op_registry.h"

#include <memory>
#include <utility>

#include "operator/base/check.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/ops.h"

namespace taas {

const Attributes& GradientCall::attributes() const { return graph.node(node).attributes; }

absl::Status OpRegistry::Add(OpDefinition definition) {
  CHECK(definition.infer != nullptr) << "op " << definition.name << " has no shape inference";
  CHECK(definition.cost != nullptr) << "op " << definition.name << " has no cost";
  const std::string name = definition.name;
  if (!ops_.emplace(name, std::move(definition)).second) {
    return absl::AlreadyExistsError("add op " + name + ": there is one of this name");
  }
  return absl::OkStatus();
}

const OpDefinition* OpRegistry::Find(std::string_view name) const {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : &found->second;
}

std::string OpRegistry::Names() const {
  std::string names;
  for (const auto& [name, definition] : ops_) names += (names.empty() ? "" : ", ") + name;
  return names;
}

const OpRegistry& StandardOps() {
  static const OpRegistry* const kOps = [] {
    auto* ops = std::make_unique<OpRegistry>().release();
    AddMathOps(ops);
    AddShapeOps(ops);
    AddLossOps(ops);
    AddImageOps(ops);
    AddNormOps(ops);
    AddSequenceOps(ops);
    AddFusedOps(ops);
    return ops;
  }();
  return *kOps;
}

}  // namespace taas
