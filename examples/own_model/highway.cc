#include "examples/own_model/highway.h"

#include <string>

namespace taas::examples {
namespace {

constexpr int kLayersOfAPart = 2;

// y = gate · fresh + (1 - gate) · x, which is x + gate · (fresh - x).
void AddHighwayLayer(const std::string& name, int64_t width, Chain* chain) {
  const Value x = chain->value();
  Chain fresh = *chain, gate = *chain;
  fresh.Add({.name = name + "/fresh", .units = width, .activation = "Tanh"});
  gate.Add({.name = name + "/gate", .units = width, .activation = "Sigmoid"});
  Graph& graph = chain->graph();
  if (!graph.status().ok()) return;
  const Value change = graph.Add("Sub", name + "/change", {fresh.value(), x});
  const Value passed = graph.Add("Mul", name + "/passed", {gate.value(), change});
  chain->Set(graph.Add("Add", name + "/output", {x, passed}));
}

}  // namespace

void AddHighway(const ModelSpec& spec, Chain* chain) {
  for (size_t part = 0; part < spec.hidden.size(); ++part) {
    const std::string name = "part" + std::to_string(part + 1);
    chain->Add({.name = name, .units = spec.hidden[part], .activation = "Relu"});
    for (int layer = 1; layer <= kLayersOfAPart; ++layer) {
      AddHighwayLayer(name + "/highway" + std::to_string(layer), spec.hidden[part], chain);
    }
  }
}

}  // namespace taas::examples
