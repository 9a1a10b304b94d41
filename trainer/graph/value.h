// Names a tensor of a graph. Apart from graph.h, so that who only passes it on need not know that.

#ifndef TRAINER_GRAPH_VALUE_H_
#define TRAINER_GRAPH_VALUE_H_

#include <compare>
#include <cstdint>

namespace taas {

using NodeId = int32_t;

// One output of one node.
struct Value {
  NodeId node = -1;
  int output = 0;

  bool valid() const { return node >= 0; }
  friend bool operator==(const Value& a, const Value& b) = default;
  friend auto operator<=>(const Value& a, const Value& b) = default;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_VALUE_H_
