#include "trainer/model/wide_deep.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/spec_fields.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

using nlohmann::json;
using Ints = std::vector<int64_t>;

std::vector<std::string> WideOf(const ModelSpec& spec) {
  if (spec.wide) return *spec.wide;
  std::vector<std::string> names;
  for (const ColumnShape& column : spec.data.columns) {
    if (column.categories > 0) names.push_back(column.name);
  }
  return names;
}

std::vector<DeepColumn> DeepOf(const ModelSpec& spec) {
  if (spec.deep) return *spec.deep;
  std::vector<DeepColumn> columns;
  for (const ColumnShape& column : spec.data.columns) {
    if (!column.crossed) columns.push_back({.column = column.name});
  }
  return columns;
}

// Its place among the features.
size_t PlaceOf(const ModelSpec& spec, const std::string& column) {
  const auto found = std::ranges::find(spec.data.columns, column, &ColumnShape::name);
  return static_cast<size_t>(found - spec.data.columns.begin());
}

absl::Status CheckName(const ModelSpec& spec, const std::string& path, const std::string& column,
                       std::set<std::string>* seen) {
  if (PlaceOf(spec, column) == spec.data.columns.size()) {
    return InvalidField(path, "\"" + column + "\" is none of data.columns");
  }
  if (seen->insert(column).second) return absl::OkStatus();
  return InvalidField(path, "\"" + column + "\" is there twice");
}

// The columns of a graph's inputs.
class ColumnValues {
 public:
  ColumnValues(const ModelSpec& spec, Graph* graph) : spec_(spec), graph_(graph) {}

  const ColumnShape& shape(const std::string& column) const {
    return spec_.data.columns[PlaceOf(spec_, column)];
  }
  // float32[batch, 1], or of categories int64[batch, 1].
  Value Of(const std::string& column) {
    const std::string name = "columns/" + column;
    if (const auto made = graph_->Find(name); made.ok()) return *made;
    const bool is_id = shape(column).categories > 0;
    const absl::StatusOr<Value> all = graph_->Find(is_id ? kIds : kFeatures);
    CHECK(all.ok()) << "the graph has no input for column " << column;
    const auto before = spec_.data.columns.begin();
    const int64_t place = std::count_if(
        before, before + static_cast<ptrdiff_t>(PlaceOf(spec_, column)),
        [is_id](const ColumnShape& other) { return (other.categories > 0) == is_id; });
    return graph_->Add("Slice", name, {*all},
                       {{"axis", int64_t{1}}, {"begin", place}, {"size", int64_t{1}}});
  }
  // float32[batch, width] of rows [batch, 1, width].
  Value Flat(Value rows, int64_t width) {
    return graph_->Add("Reshape", "", {rows}, {{"shape", Ints{Shape::kBatch, width}}});
  }

 private:
  const ModelSpec& spec_;
  Graph* const graph_;
};

absl::StatusOr<DeepColumn> ParseDeepColumn(const json& value, const std::string& path) {
  if (!value.is_object()) return InvalidField(path, "must be an object with a column");
  RETURN_IF_ERROR(CheckFields(value, path, {"column", "type", "units"}));
  DeepColumn column;
  ASSIGN_OR_RETURN(column.column, TextField(value, path, "column"));
  ASSIGN_OR_RETURN(const size_t type,
                   ChoiceField(value, path, "type", {"embedding", "indicator"}));
  column.indicator = type == 1;
  ASSIGN_OR_RETURN(column.units, WholeField(value, path, "units", {0, 1, kUnitsMax}));
  if (column.indicator && column.units > 0) {
    return InvalidField(path + ".units", "is of an embedding");
  }
  return column;
}

}  // namespace

int64_t DefaultUnits(int64_t categories) {
  int64_t units = 1;
  while (units * units * units * units < categories) ++units;
  return units;
}

absl::Status ParseWideDeep(const json& value, ModelSpec* spec) {
  if (value.contains("wide") && value["wide"] == json::array()) {
    spec->wide.emplace();  // A deep model.
  } else if (value.contains("wide")) {
    ASSIGN_OR_RETURN(spec->wide, TextsField(value, "model", "wide"));
  }
  if (!value.contains("deep")) return absl::OkStatus();
  const json& list = value["deep"];
  if (!list.is_array() || list.empty()) {
    return InvalidField("model.deep", "must be a list of at least one column");
  }
  std::vector<DeepColumn> columns;
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(columns.emplace_back(),
                     ParseDeepColumn(list[i], "model.deep[" + std::to_string(i) + "]"));
  }
  spec->deep = std::move(columns);
  return absl::OkStatus();
}

absl::Status CheckWideDeep(const ModelSpec& spec) {
  if (spec.data.columns.empty()) {
    return InvalidField("data.columns", "is missing: model " + spec.name + " needs columns");
  }
  std::set<std::string> seen;
  const std::vector<std::string> wide = WideOf(spec);
  for (size_t i = 0; i < wide.size(); ++i) {
    RETURN_IF_ERROR(CheckName(spec, "model.wide[" + std::to_string(i) + "]", wide[i], &seen));
  }
  seen.clear();
  const std::vector<DeepColumn> deep = DeepOf(spec);
  if (deep.empty()) {
    return InvalidField("model.deep", "is missing: all columns are crossed, name those of the "
                                      "layers");
  }
  for (size_t i = 0; i < deep.size(); ++i) {
    const std::string path = "model.deep[" + std::to_string(i) + "]";
    RETURN_IF_ERROR(CheckName(spec, path + ".column", deep[i].column, &seen));
    const int64_t categories = spec.data.columns[PlaceOf(spec, deep[i].column)].categories;
    if (categories == 0 && (deep[i].indicator || deep[i].units > 0)) {
      return InvalidField(path, "\"" + deep[i].column + "\" is numeric: it has no categories");
    }
    if (deep[i].indicator && categories > kUnitsMax) {
      return InvalidField(path, "\"" + deep[i].column + "\" has " + std::to_string(categories) +
                                    " categories, an indicator at most " +
                                    std::to_string(kUnitsMax) + "; an embedding takes more");
    }
  }
  return absl::OkStatus();
}

void AddDeep(const ModelSpec& spec, Chain* chain) {
  Graph& graph = chain->graph();
  ColumnValues columns(spec, &graph);
  std::vector<Value> parts;
  for (const DeepColumn& part : DeepOf(spec)) {
    const int64_t categories = columns.shape(part.column).categories;
    if (categories == 0) {
      parts.push_back(columns.Of(part.column));
      continue;
    }
    const Value ids = columns.Of(part.column);
    if (!graph.status().ok()) return;
    const Graph::Scope scope(&graph, "deep/" + part.column);
    if (part.indicator) {
      const Value hot = graph.Add("OneHot", "indicator", {ids}, {{"size", categories}});
      parts.push_back(columns.Flat(hot, categories));
      continue;
    }
    const int64_t units = part.units > 0 ? part.units : DefaultUnits(categories);
    // As TensorFlow's embedding_column starts.
    const double deviation = 1 / std::sqrt(static_cast<double>(units));
    const Value table = graph.Variable("table", Shape({categories, units}),
                                       Initializer::TruncatedNormal(deviation));
    parts.push_back(columns.Flat(graph.Add("Embedding", "", {table, ids}), units));
  }
  if (!graph.status().ok()) return;
  chain->Set(graph.Add("Concat", "deep/input", parts, {{"axis", int64_t{1}}}));
  for (size_t i = 0; i < spec.hidden.size(); ++i) {
    chain->Add({.name = "hidden" + std::to_string(i + 1),
                .units = spec.hidden[i],
                .activation = "Relu"});
  }
  chain->Add({.kind = LayerKind::kDropout, .rate = spec.dropout});
}

Value AddWide(const ModelSpec& spec, int64_t outputs, Graph* graph) {
  ColumnValues columns(spec, graph);
  std::vector<Value> parts;
  for (const std::string& column : WideOf(spec)) {
    const int64_t categories = columns.shape(column).categories;
    const Value value = columns.Of(column);
    if (!graph->status().ok()) return Value();
    const Graph::Scope scope(graph, "wide/" + column);
    const Value weights = graph->Variable(
        "weights", Shape({std::max<int64_t>(1, categories), outputs}), Initializer::Zeros());
    parts.push_back(categories == 0
                        ? graph->Add("MatMul", "", {value, weights})
                        : columns.Flat(graph->Add("Embedding", "", {weights, value}), outputs));
  }
  if (parts.size() < 2) return parts.empty() ? Value() : parts.front();
  return graph->Add("AddN", "wide/sum", parts);
}

}  // namespace taas
