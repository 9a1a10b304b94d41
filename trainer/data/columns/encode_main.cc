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

SourceValue ValueOf(const Json& value) {
  if (value.is_string()) return std::string_view(value.get_ref<const std::string&>());
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  return SourceValue();
}

int Run() {
  const Json input = Json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  const auto columns = FeatureColumns::Parse(input["columns"], "columns");
  CHECK(columns.ok()) << columns.status();
  Json rows = Json::array();
  for (const Json& row : input["rows"]) {
    std::vector<SourceValue> values;
    for (const std::string& source : columns->sources()) values.push_back(ValueOf(row.at(source)));
    std::vector<float> encoded;
    const absl::Status status = columns->Encode(values, &encoded);
    CHECK(status.ok()) << status;
    rows.push_back(encoded);
  }
  std::puts(rows.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace taas

int main() { return taas::Run(); }
