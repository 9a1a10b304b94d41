#include "trainer/use/test_data.h"

#include "third_party/json.h"

namespace taas {

absl::StatusOr<std::string> WithTestFiles(std::string_view data, const TestFiles& test) {
  nlohmann::ordered_json json =
      nlohmann::ordered_json::parse(data, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("data: must be an object");
  const std::string format =
      json.contains("format") && json["format"].is_string() ? json["format"] : "idx";
  if (format == "generated") {
    return absl::InvalidArgumentError(
        "--input: data of format generated have no files: leave it out, or give the data of the "
        "training with --config");
  }
  if (format == "idx" || format == "raw") {
    if (test.labels.empty()) {
      return absl::InvalidArgumentError("--labels is required beside --input: data of format " +
                                        format + " have their labels in a file of their own");
    }
    json["test"] = {{"images", test.input}, {"labels", test.labels}};
    return json.dump();
  }
  if (!test.labels.empty()) {
    return absl::InvalidArgumentError("--labels: data of format " + format +
                                      " have their labels beside the examples: leave it out");
  }
  json["test"] = {{"files", {test.input}}};
  return json.dump();
}

}  // namespace taas
