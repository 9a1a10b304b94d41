// What `taas-trainer predict` is asked about: lines of numbers, JSON lists or JSON objects.

#include <memory>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "third_party/json.h"
#include "tools/fuzz/target.h"
#include "trainer/use/predict.h"

namespace taas {
namespace {

const FeatureColumns& Columns() {
  static const FeatureColumns kColumns = [] {
    auto columns = FeatureColumns::Parse(
        nlohmann::json::parse(R"([{"name": "age", "type": "numeric", "default": 1},
                                  {"name": "job", "type": "hashed", "buckets": 7}])"),
        "columns");
    CHECK(columns.ok()) << columns.status();
    return *std::move(columns);
  }();
  return kColumns;
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {"1,2.5\n-3,4e2\n", "[1, 2.5]\n[3, null]\n", "{\"age\": 3, \"job\": \"cook\"}\n{}\n",
          "\n"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  (void)taas::ParseExamples(text, "x", {.features = 2});
  (void)taas::ParseExamples(text, "x", {.features = 2, .ids = true});
  (void)taas::ParseExamples(text, "x", {.columns = &taas::Columns()});
  return 0;
}
