// `data.tfrecord`, `data.columns` and `data.streaming` of a manifest.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "third_party/json.h"
#include "tools/fuzz/target.h"
#include "trainer/data/columns/feature_columns.h"
#include "trainer/data/record_spec.h"
#include "trainer/data/stream/streaming_options.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"tfrecord": {"compression": "zlib", "badRecords": "skip", "label": "y", "features": [
              {"name": "x", "dtype": "bytes", "decode": "raw", "rawDtype": "uint8", "shape": [2, 2],
               "normalise": {"scale": 0.5, "offset": -1}},
              {"name": "words", "dtype": "int64", "kind": "VarLen", "shape": [16], "default": -1},
              {"name": "y", "dtype": "int64"}]}, "streaming": {"shuffleBuffer": 100, "readers": 2}
              })",
          R"({"columns": [{"name": "age", "type": "numeric", "normalise": {"scale": 2}},
              {"name": "group", "type": "bucketized", "source": "age", "boundaries": [18, 35]},
              {"name": "job", "type": "vocabulary", "values": ["cook", "guard"], "oovBuckets": 3},
              {"name": "id", "type": "hashed", "buckets": 100},
              {"name": "both", "type": "crossed", "sources": ["job", "id"], "buckets": 50}],
              "tfrecord": {"label": "y", "features": [{"name": "age"}, {"name": "y"},
              {"name": "job", "dtype": "bytes", "decode": "text"},
              {"name": "id", "dtype": "int64"}]}})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nlohmann::json;
  const json spec = json::parse(taas::FuzzText(data, size), nullptr, /*allow_exceptions=*/false);
  if (!spec.is_object()) return 0;
  std::shared_ptr<const taas::FeatureColumns> columns;
  if (spec.contains("columns")) {
    auto parsed = taas::FeatureColumns::Parse(spec["columns"], "data.columns");
    if (parsed.ok()) columns = std::make_shared<const taas::FeatureColumns>(*std::move(parsed));
  }
  if (spec.contains("tfrecord")) {
    (void)taas::ParseRecordSpec(spec["tfrecord"], "data.tfrecord", {}, columns);
  }
  if (spec.contains("streaming")) (void)taas::ParseStreaming(spec["streaming"]);
  return 0;
}
