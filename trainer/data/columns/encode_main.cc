// Prints what feature columns make of values, for a test that asks TensorFlow the same.
//
// Standard input is {"columns": [...], "rows": [{"feature": "text" | 7 | 0.5 | null}, ...]};
// standard output is the list of the rows' numbers.

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "third_party/json.h"
#include "trainer/data/columns/feature_columns.h"

namespace taas {
namespace {

using Json = nlohmann::json;

int Run() {
  const Json input = Json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  const auto columns = FeatureColumns::Parse(input["columns"], "columns");
  CHECK(columns.ok()) << columns.status();
  Json rows = Json::array();
  for (const Json& row : input["rows"]) {
    std::vector<SourceValue> values;
    for (const std::string& source : columns->sources()) {
      values.push_back(SourceValueOf(row.at(source)).value());
    }
    std::vector<float> quantities;
    std::vector<int64_t> ids;
    const absl::Status status = columns->Encode(values, &quantities, &ids);
    CHECK(status.ok()) << status;
    Json numbers = Json::array();
    auto quantity = quantities.begin();
    auto id = ids.begin();
    for (const ColumnShape& shape : columns->shapes()) {
      numbers.push_back(shape.categories == 0 ? Json(*quantity++) : Json(*id++));
    }
    rows.push_back(numbers);
  }
  std::puts(rows.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace taas

int main() { return taas::Run(); }
