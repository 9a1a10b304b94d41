// Two CSV files of one table: numbers, or feature columns of texts.

#include <memory>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "third_party/json.h"
#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/data/csv.h"
#include "trainer/data/gzip.h"

namespace taas {
namespace {

std::shared_ptr<const FeatureColumns> Columns() {
  static const std::shared_ptr<const FeatureColumns> kColumns = [] {
    auto columns = FeatureColumns::Parse(nlohmann::json::parse(R"([
        {"name": "a", "type": "numeric", "default": 1},
        {"name": "b", "type": "hashed", "buckets": 7},
        {"name": "c", "type": "vocabulary", "values": ["x", "y"], "oovBuckets": 2}])"),
                                         "columns");
    CHECK(columns.ok()) << columns.status();
    return std::make_shared<const FeatureColumns>(*std::move(columns));
  }();
  return kColumns;
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const std::string table = "a,b,c,y\n1,two,x,0\n\"3\",\"f\"\"o,ur\",,1\r\n";
  return {JoinFuzzParts({table, "a,y\n1,0\n"}), JoinFuzzParts({"1;2;0\n-3e2;+4;1\n", ""}),
          JoinFuzzParts({"\xef\xbb\xbf" "a,y\n", table}),
          JoinFuzzParts({GzipCompress(table), table})};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parts = taas::FuzzParts(taas::FuzzText(data, size), 2);
  taas::MemoryFiles files({{"/a", std::string(parts[0])}, {"/b", std::string(parts[1])}});
  (void)taas::ReadCsv(files, {"/a", "/b"}, {.label_column = "y"});
  (void)taas::ReadCsv(files, {"/a"}, {.header = false, .delimiter = ';', .label_column = "2",
                                      .classes = 0});
  (void)taas::ReadCsv(files, {"/b", "/a"}, {.label_column = "y",
                                            .feature_columns = taas::Columns()});
  return 0;
}
