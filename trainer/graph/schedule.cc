#include "trainer/graph/schedule.h"

#include <algorithm>

namespace taas {
namespace {

using Kind = ScheduledBuffer::Kind;

class Scheduler {
 public:
  explicit Scheduler(const ScheduleRequest& request) : request_(request) {}

  Schedule Make() {
    const std::vector<bool> forward = Needed(request_.forward);
    std::vector<Value> trained = request_.gradients;
    trained.insert(trained.end(), request_.updates.begin(), request_.updates.end());
    const std::vector<bool> backward = Needed(trained);
    needed_.resize(forward.size());
    for (size_t id = 0; id < needed_.size(); ++id) needed_[id] = forward[id] || backward[id];
    FindLastReads();
    for (size_t id = 0; id < request_.nodes.size(); ++id) {
      const NodeId node_id = static_cast<NodeId>(id);
      const Node& node = request_.nodes[id];
      if (node.inputs.empty()) {
        PlaceLeaf(node_id);
      } else if (needed_[id] && IsView(node)) {
        schedule_.buffer_of[{node_id, 0}] = schedule_.buffer_of.at(node.inputs[0]);
      } else if (needed_[id]) {
        AddStep(node_id, forward[id]);
      }
    }
    return std::move(schedule_);
  }

 private:
  const Node& NodeAt(NodeId id) const { return request_.nodes[static_cast<size_t>(id)]; }

  bool IsView(const Node& node) const {
    const OpDefinition* op = request_.ops.Find(node.op);
    return op != nullptr && op->is_view;
  }

  size_t Bytes(Value value) const {
    const TensorType& type = NodeAt(value.node).outputs[static_cast<size_t>(value.output)];
    return static_cast<size_t>(type.shape.WithBatch(request_.batch).count()) * SizeOf(type.dtype);
  }

  std::vector<bool> Needed(const std::vector<Value>& roots) const {
    std::vector<bool> needed(request_.nodes.size(), false);
    for (const Value root : roots) needed[static_cast<size_t>(root.node)] = true;
    for (size_t id = needed.size(); id-- > 0;) {
      if (!needed[id]) continue;
      for (const Value input : request_.nodes[id].inputs) {
        needed[static_cast<size_t>(input.node)] = true;
      }
    }
    return needed;
  }

  // The value whose memory `value` shows.
  Value SourceOf(Value value) const {
    while (IsView(NodeAt(value.node))) value = NodeAt(value.node).inputs[0];
    return value;
  }

  void FindLastReads() {
    int step = 0;
    for (size_t id = 0; id < request_.nodes.size(); ++id) {
      const Node& node = request_.nodes[id];
      if (!needed_[id] || node.inputs.empty() || IsView(node)) continue;
      for (const Value input : node.inputs) last_read_[SourceOf(input)] = step;
      ++step;
    }
    for (const Value root : request_.forward) {
      last_read_[SourceOf(root)] = ScheduledBuffer::kForever;
    }
  }

  int NewBuffer(ScheduledBuffer buffer) {
    schedule_.buffers.push_back(buffer);
    const int index = static_cast<int>(schedule_.buffers.size()) - 1;
    schedule_.buffer_of[buffer.value] = index;
    return index;
  }

  // Inputs and variables always have a buffer, also when nothing reads them: callers fill them.
  void PlaceLeaf(NodeId id) {
    const std::string& op = NodeAt(id).op;
    if (op == "Constant" && !needed_[static_cast<size_t>(id)]) return;
    const Kind kind = op == "Input"      ? Kind::kInput
                      : op == "Variable" ? Kind::kVariable
                                         : Kind::kConstant;
    NewBuffer({.kind = kind, .value = {id, 0}, .bytes = Bytes({id, 0})});
  }

  // The buffer of an input that output 0 of the node may take over at `step`; -1 if none.
  int InPlaceBuffer(NodeId id, const ScheduledStep& scheduled, int step) const {
    const Node& node = NodeAt(id);
    const int position = request_.ops.Find(node.op)->in_place_input;
    if (position < 0) return -1;
    const int candidate = scheduled.inputs[static_cast<size_t>(position)];
    const ScheduledBuffer& buffer = schedule_.buffers[static_cast<size_t>(candidate)];
    const bool usable = buffer.kind == Kind::kArena && buffer.last == step &&
                        buffer.bytes == Bytes({id, 0}) &&
                        std::ranges::count(scheduled.inputs, candidate) == 1;
    return usable ? candidate : -1;
  }

  void AddStep(NodeId id, bool forward) {
    const Node& node = NodeAt(id);
    const int step = static_cast<int>(schedule_.steps.size());
    ScheduledStep scheduled{.node = id, .forward = forward};
    for (const Value input : node.inputs) {
      scheduled.inputs.push_back(schedule_.buffer_of.at(input));
    }
    for (int output = 0; output < static_cast<int>(node.outputs.size()); ++output) {
      const Value value{id, output};
      scheduled.outputs.push_back(PlaceOutput(value, scheduled, step));
    }
    schedule_.steps.push_back(std::move(scheduled));
  }

  int PlaceOutput(Value value, const ScheduledStep& scheduled, int step) {
    if (std::ranges::count(request_.gradients, value) > 0) {
      return NewBuffer({.kind = Kind::kGradient, .value = value, .bytes = Bytes(value)});
    }
    if (std::ranges::count(request_.updates, value) > 0) {
      return schedule_.buffer_of[value] = scheduled.inputs[0];
    }
    const auto read = last_read_.find(value);
    const int last = read == last_read_.end() ? step : read->second;
    schedule_.unshared_bytes += Bytes(value);
    const int in_place = value.output == 0 ? InPlaceBuffer(value.node, scheduled, step) : -1;
    if (in_place >= 0) {
      schedule_.buffers[static_cast<size_t>(in_place)].last = std::max(step, last);
      schedule_.buffer_of[value] = in_place;
      return in_place;
    }
    return NewBuffer({.value = value, .bytes = Bytes(value), .first = step, .last = last});
  }

  const ScheduleRequest& request_;
  std::vector<bool> needed_;
  std::map<Value, int> last_read_;
  Schedule schedule_;
};

}  // namespace

Schedule MakeSchedule(const ScheduleRequest& request) { return Scheduler(request).Make(); }

}  // namespace taas
