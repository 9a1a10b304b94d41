// What a session will run and where each value lies: a pure function of the graph.
//
// Nodes that no root needs are left out. A view lies where its source lies. An op that may write
// over an input does so when nobody reads that input afterwards. Leaves, and values that a caller
// holds a span of between runs, are never written over.
//
// Ownership: values. Threads: any. Errors: none; the graph is valid.
//
//   const Schedule schedule = MakeSchedule({.graph = graph, .nodes = nodes, .batch = 100,
//                                           .forward = {loss}, .gradients = gradients});

#ifndef TRAINER_GRAPH_SCHEDULE_H_
#define TRAINER_GRAPH_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "trainer/graph/graph.h"
#include "trainer/graph/op_registry.h"

namespace taas {

struct ScheduleRequest {
  const OpRegistry& ops;
  std::span<const Node> nodes;
  int64_t batch = 1;
  std::vector<Value> forward;    // The loss and the fetches: readable after every run.
  std::vector<Value> gradients;  // Each gets a buffer of its own; made by ops, all different.
  std::vector<Value> updates{};  // Written to the variable that is the op's first input.
};

struct ScheduledBuffer {
  enum class Kind : uint8_t { kInput, kVariable, kConstant, kGradient, kArena };
  static constexpr int kForever = std::numeric_limits<int>::max();

  Kind kind = Kind::kArena;
  Value value;  // The first value that lies there.
  size_t bytes = 0;
  int first = 0;  // Steps during which it is alive; of the arena only.
  int last = 0;
};

struct ScheduledStep {
  NodeId node = 0;
  bool forward = false;  // Whether a run without gradients needs it.
  std::vector<int> inputs;  // Buffers.
  std::vector<int> outputs;
};

struct Schedule {
  std::vector<ScheduledStep> steps;
  std::vector<ScheduledBuffer> buffers;
  std::map<Value, int> buffer_of;

  // The size of all arena values if none shared a buffer.
  size_t unshared_bytes = 0;
};

Schedule MakeSchedule(const ScheduleRequest& request);

}  // namespace taas

#endif  // TRAINER_GRAPH_SCHEDULE_H_
