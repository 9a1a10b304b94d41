#include "trainer/data/load_data.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/data/generated.h"
#include "trainer/data/idx.h"

namespace taas {
namespace {

using nlohmann::json;

constexpr int64_t kDefaultExamples = 10'000;
constexpr int64_t kDefaultTestExamples = 1'000;
constexpr int64_t kDefaultFeatures = 20;
constexpr int64_t kDefaultClasses = 10;
// The limits of the TrainingJob schema.
constexpr int64_t kExamplesMax = 10'000'000;
constexpr int64_t kFeaturesMax = 65'536;
constexpr size_t kSourceBytesMax = 256;  // It goes into status and termination messages.

absl::Status Invalid(const std::string& field, const std::string& why) {
  return absl::InvalidArgumentError(field + ": " + why);
}

absl::Status CheckFields(const json& value, const std::string& path,
                         std::initializer_list<std::string_view> known) {
  if (!value.is_object()) return Invalid(path, "must be an object");
  for (const auto& [name, unused] : value.items()) {
    bool found = false;
    for (const std::string_view field : known) found = found || field == name;
    if (!found) return Invalid(path + "." + name, "unknown field");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Text(const json& value, const std::string& path, const char* name) {
  const auto found = value.find(name);
  const std::string field = path + "." + name;
  if (found == value.end()) return Invalid(field, "is missing");
  if (!found->is_string() || found->get_ref<const std::string&>().empty()) {
    return Invalid(field, "must be a text that is not empty");
  }
  return found->get<std::string>();
}

struct Range {
  int64_t fallback;
  int64_t least;
  int64_t most;
};

absl::StatusOr<int64_t> Number(const json& value, const std::string& path, const char* name,
                               Range range) {
  const auto found = value.find(name);
  if (found == value.end()) return range.fallback;
  if (found->is_number_integer()) {
    const int64_t number = found->get<int64_t>();
    if (number >= range.least && number <= range.most) return number;
  }
  return Invalid(path + "." + name, "must be a whole number from " + std::to_string(range.least) +
                                        " to " + std::to_string(range.most));
}

struct IdxPaths {
  std::string images;
  std::string labels;
};

absl::StatusOr<IdxPaths> ParsePaths(const json& value, const std::string& path) {
  RETURN_IF_ERROR(CheckFields(value, path, {"images", "labels"}));
  IdxPaths paths;
  ASSIGN_OR_RETURN(paths.images, Text(value, path, "images"));
  ASSIGN_OR_RETURN(paths.labels, Text(value, path, "labels"));
  return paths;
}

// `source.txt` says in words where files of such neutral names come from.
std::string SourceOf(FileSystem& files, const std::string& images) {
  const auto text = files.ReadAll(DirName(images) + "/source.txt");
  if (!text.ok()) return images;
  std::string line = text->substr(0, text->find('\n'));
  if (line.size() > kSourceBytesMax) line.resize(kSourceBytesMax);
  return line.empty() ? images : line;
}

absl::StatusOr<DataSets> LoadIdx(FileSystem& files, const json& spec) {
  RETURN_IF_ERROR(CheckFields(spec, "data", {"format", "train", "test"}));
  if (!spec.contains("train")) return Invalid("data.train", "is missing: format idx needs files");
  ASSIGN_OR_RETURN(const IdxPaths train, ParsePaths(spec["train"], "data.train"));
  ASSIGN_OR_RETURN(Dataset train_set, ReadLabelledIdx(files, train.images, train.labels, {}));
  DataSets sets{std::move(train_set), std::nullopt, SourceOf(files, train.images)};
  if (!spec.contains("test")) return sets;
  ASSIGN_OR_RETURN(const IdxPaths test, ParsePaths(spec["test"], "data.test"));
  ASSIGN_OR_RETURN(Dataset test_set, ReadLabelledIdx(files, test.images, test.labels,
                                                     {.classes = sets.train.classes()}));
  if (test_set.features() != sets.train.features() ||
      test_set.target_width() != sets.train.target_width()) {
    return absl::InvalidArgumentError(
        "read " + test.images + ": its examples have " + std::to_string(test_set.features()) +
        " features and " + std::to_string(test_set.target_width()) + " targets, those of " +
        train.images + " have " + std::to_string(sets.train.features()) + " and " +
        std::to_string(sets.train.target_width()));
  }
  sets.test = std::move(test_set);
  return sets;
}

absl::StatusOr<DataSets> Generate(const json& spec, uint64_t seed) {
  RETURN_IF_ERROR(CheckFields(spec, "data", {"format", "generated"}));
  const json options = spec.value("generated", json::object());
  const std::string path = "data.generated";
  RETURN_IF_ERROR(CheckFields(options, path, {"examples", "testExamples", "features", "classes"}));
  ASSIGN_OR_RETURN(const int64_t examples,
                   Number(options, path, "examples", {kDefaultExamples, 1, kExamplesMax}));
  ASSIGN_OR_RETURN(const int64_t tests,
                   Number(options, path, "testExamples", {kDefaultTestExamples, 0, kExamplesMax}));
  ASSIGN_OR_RETURN(const int64_t features,
                   Number(options, path, "features", {kDefaultFeatures, 1, kFeaturesMax}));
  ASSIGN_OR_RETURN(const int64_t classes,
                   Number(options, path, "classes", {kDefaultClasses, 0, kFeaturesMax}));
  const auto make = [&](int64_t first, int64_t count) {
    const GeneratedOptions generated{seed, first, count, features, static_cast<int32_t>(classes)};
    return classes == 0 ? GenerateRegression(generated) : GenerateClassification(generated);
  };
  DataSets sets{make(0, examples), std::nullopt,
                "generated: " + std::to_string(examples) + " examples of " +
                    std::to_string(features) + " features, seed " + std::to_string(seed)};
  if (tests > 0) sets.test = make(examples, tests);
  return sets;
}

}  // namespace

absl::StatusOr<DataSets> LoadData(FileSystem& files, const json& spec, uint64_t seed) {
  if (!spec.is_object()) return Invalid("data", "must be an object");
  std::string format = "idx";
  if (spec.contains("format")) {
    ASSIGN_OR_RETURN(format, Text(spec, "data", "format"));
  }
  if (format == "idx") return LoadIdx(files, spec);
  if (format == "generated") return Generate(spec, seed);
  return Invalid("data.format", "unknown format \"" + format + "\", want idx or generated");
}

}  // namespace taas
