#include "trainer/graph/graph_text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "trainer/graph/short_text.h"

namespace taas {
namespace {

// Columns as wide as what is in them; the last two to the right.
constexpr size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;

std::string Table(const std::vector<Row>& rows) {
  std::array<size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      const bool right = i == 0 || i >= kColumns - 2;
      text += (i > 0 ? "  " : "") + (right ? space + row[i] : row[i] + space);
    }
    text += "\n";
  }
  return text;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string GraphText(const Session& session, RunKind kind) {
  std::vector<Row> rows = {{"#", "name", "op", "output", "device", "flops", "bytes"}};
  for (const OpInfo& op : session.ops(kind)) {
    if (!op.runs) continue;
    rows.push_back({std::to_string(rows.size()), op.name, op.Text(), op.outputs[0].ToString(),
                    op.device, ShortText(op.cost.flops), ShortText(op.cost.bytes)});
  }
  const OpCost cost = session.cost(kind);
  const MemoryReport memory = session.memory();
  return Table(rows) + "\n" + std::to_string(rows.size() - 1) + " ops, batch " +
         std::to_string(session.batch()) + ": " + ShortText(cost.flops, "FLOP") + ", " +
         ShortText(cost.bytes, "B") + " read and written\n" + "memory: variables " +
         BytesText(memory.variable_bytes) + ", gradients " + BytesText(memory.gradient_bytes) +
         ", inputs " + BytesText(memory.input_bytes) + ", peak of all in between " +
         BytesText(memory.arena_bytes) + " (" + BytesText(memory.unshared_bytes) +
         " without reuse)\n";
}

std::string GraphDot(const Session& session, RunKind kind) {
  std::string text = "digraph graph_of_ops {\n  node [shape=box];\n";
  for (const OpInfo& op : session.ops(kind)) {
    const std::string label = op.name + "\n" + op.Text() + " " + op.outputs[0].ToString();
    text += "  " + Quoted(op.name) + " [label=" + Quoted(label) +
            (op.inputs.empty() ? ", shape=ellipse" : "") + "];\n";
    for (const std::string& input : op.inputs) {
      // "name:1" is another output of the node "name".
      const std::string from = input.substr(0, input.find(':'));
      text += "  " + Quoted(from) + " -> " + Quoted(op.name) + ";\n";
    }
  }
  return text + "}\n";
}

}  // namespace taas
