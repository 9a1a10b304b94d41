#include "trainer/graph/graph_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace taas {
namespace {

// Three digits and a unit: "1.23 M", "1.23 MB".
std::string Short(double number, const std::string& unit = "") {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T"};
  size_t at = 0;
  while (number >= 1000 && at + 1 < std::size(kPrefixes)) {
    number /= 1000;
    ++at;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", number);
  const std::string whole = kPrefixes[at] + unit;
  return text + (whole.empty() ? "" : " " + whole);
}

std::string Bytes(size_t bytes) { return Short(static_cast<double>(bytes), "B"); }

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
                    op.device, Short(op.cost.flops), Short(op.cost.bytes)});
  }
  const OpCost cost = session.cost(kind);
  const MemoryReport memory = session.memory();
  return Table(rows) + "\n" + std::to_string(rows.size() - 1) + " ops, batch " +
         std::to_string(session.batch()) + ": " + Short(cost.flops, "FLOP") + ", " +
         Short(cost.bytes, "B") + " read and written\n" + "memory: variables " +
         Bytes(memory.variable_bytes) + ", gradients " + Bytes(memory.gradient_bytes) +
         ", inputs " + Bytes(memory.input_bytes) + ", peak of all in between " +
         Bytes(memory.arena_bytes) + " (" + Bytes(memory.unshared_bytes) + " without reuse)\n";
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
