#include "trainer/data/load_data.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "operator/base/hash.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/data/cifar.h"
#include "trainer/data/csv.h"
#include "trainer/data/data_identity.h"
#include "trainer/data/file_list.h"
#include "trainer/data/columns/feature_columns.h"
#include "trainer/data/generated/generated.h"
#include "trainer/data/generated/generated_clicks.h"
#include "trainer/data/idx.h"
#include "trainer/data/raw.h"
#include "trainer/data/record_spec.h"
#include "trainer/data/stream/streamed_records.h"
#include "trainer/data/text.h"
#include "trainer/config/spec_fields.h"

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
constexpr int64_t kDefaultContext = 256;
constexpr int64_t kPaddingMax = 1'024;
constexpr int64_t kDefaultPadding = 4;   // What is usual for images of 32 × 32.
constexpr size_t kSourceBytesMax = 256;  // It goes into status and termination messages.

// The files of the training set or of the test set: the two, or the list.
struct SetFiles {
  std::string images;
  std::string labels;
  std::vector<std::string> list;

  const std::string& first() const { return list.empty() ? images : list.front(); }
  std::vector<std::string> all() const {
    return list.empty() ? std::vector{images, labels} : list;
  }
};

// What is special of a format.
struct Format {
  bool takes_list = false;
  ClassCount classes;  // As the specification says.
  std::function<absl::StatusOr<Dataset>(const SetFiles& of, ClassCount classes)> read;
};

absl::StatusOr<SetFiles> ParseFiles(FileSystem& files, const json& value, const std::string& path,
                                    bool takes_list) {
  SetFiles set;
  if (!takes_list) {
    RETURN_IF_ERROR(CheckFields(value, path, {"images", "labels"}));
    ASSIGN_OR_RETURN(set.images, TextField(value, path, "images"));
    ASSIGN_OR_RETURN(set.labels, TextField(value, path, "labels"));
    return set;
  }
  RETURN_IF_ERROR(CheckFields(value, path, {"files"}));
  ASSIGN_OR_RETURN(const std::vector<std::string> patterns, TextsField(value, path, "files"));
  if (patterns.empty()) return InvalidField(path + ".files", "is missing");
  ASSIGN_OR_RETURN(set.list, ExpandFiles(files, patterns));
  return set;
}

// `source.txt` says in words where files of such neutral names come from.
std::string SourceOf(FileSystem& files, const SetFiles& train) {
  const auto text = files.ReadAll(DirName(train.first()) + "/source.txt");
  if (text.ok()) {
    std::string line = text->substr(0, text->find('\n'));
    if (line.size() > kSourceBytesMax) line.resize(kSourceBytesMax);
    if (!line.empty()) return line;
  }
  if (train.list.size() < 2) return train.first();
  return train.first() + " and " + std::to_string(train.list.size() - 1) + " more";
}

absl::Status CheckTestIsAlike(const Dataset& test, const Dataset& train, const SetFiles& test_files,
                              const SetFiles& train_files) {
  if (test.features() == train.features() && test.target_width() == train.target_width()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "read " + test_files.first() + ": its examples have " + std::to_string(test.features()) +
      " features and " + std::to_string(test.target_width()) + " targets, those of " +
      train_files.first() + " have " + std::to_string(train.features()) + " and " +
      std::to_string(train.target_width()));
}

absl::StatusOr<AugmentOptions> ParseAugment(const json& spec) {
  AugmentOptions options;
  const json augment = spec.value("augment", json::object());
  const std::string path = "data.augment";
  RETURN_IF_ERROR(CheckFields(augment, path, {"crop", "flip"}));
  ASSIGN_OR_RETURN(options.flip, FlagField(augment, path, "flip", false));
  if (!augment.contains("crop")) return options;
  RETURN_IF_ERROR(CheckFields(augment["crop"], path + ".crop", {"padding"}));
  ASSIGN_OR_RETURN(options.crop_padding, WholeField(augment["crop"], path + ".crop", "padding",
                                                    {kDefaultPadding, 1, kPaddingMax}));
  return options;
}

// A margin as wide as the image could leave nothing of it.
absl::Status CheckAugment(const AugmentOptions& options, const Dataset& train) {
  const ImageShape& image = train.image();
  if (!options.any()) return absl::OkStatus();
  if (image.pixels() == 0) return InvalidField("data.augment", "the examples are no images");
  if (options.crop_padding < std::min(image.height, image.width)) return absl::OkStatus();
  return InvalidField("data.augment.crop.padding",
                      "must be less than the images' " + std::to_string(image.height) + " × " +
                          std::to_string(image.width));
}

absl::StatusOr<DataSets> LoadSets(FileSystem& files, const json& spec, const Format& format) {
  if (!spec.contains("train")) {
    return InvalidField("data.train", "is missing: this format needs files");
  }
  ASSIGN_OR_RETURN(const SetFiles train,
                   ParseFiles(files, spec["train"], "data.train", format.takes_list));
  ASSIGN_OR_RETURN(const AugmentOptions augment, ParseAugment(spec));
  ASSIGN_OR_RETURN(Dataset train_set, format.read(train, format.classes));
  RETURN_IF_ERROR(CheckAugment(augment, train_set));
  DataSets sets{std::move(train_set), std::nullopt, SourceOf(files, train), augment};
  sets.train_files = train.all();
  if (!spec.contains("test")) return sets;
  ASSIGN_OR_RETURN(const SetFiles test,
                   ParseFiles(files, spec["test"], "data.test", format.takes_list));
  // As many classes as in training, whatever the test set holds; none of a regression.
  ASSIGN_OR_RETURN(Dataset test_set, format.read(test, sets.train.classes()));
  RETURN_IF_ERROR(CheckTestIsAlike(test_set, sets.train, test, train));
  sets.test = std::move(test_set);
  return sets;
}

absl::StatusOr<ClassCount> ClassesOf(const json& spec) {
  if (!spec.contains("classes")) return ClassCount();
  ASSIGN_OR_RETURN(const int64_t classes,
                   WholeField(spec, "data", "classes", {0, 0, kFeaturesMax}));
  return ClassCount(static_cast<int32_t>(classes));
}

absl::StatusOr<DataSets> LoadIdx(FileSystem& files, const json& spec, bool ids) {
  RETURN_IF_ERROR(CheckFields(spec, "data", {"format", "train", "test", "augment"}));
  return LoadSets(files, spec, {.read = [&](const SetFiles& of, ClassCount classes) {
    return ReadLabelledIdx(files, of.images, of.labels,
                           {.classes = classes.value_or(0), .ids = ids});
  }});
}

absl::StatusOr<DataSets> LoadCifar(FileSystem& files, const json& spec, CifarLabels labels) {
  return LoadSets(files, spec, {.takes_list = true, .read = [&](const SetFiles& of, ClassCount) {
    return ReadCifar(files, of.list, labels);
  }});
}

absl::StatusOr<DataSets> LoadCifar10(FileSystem& files, const json& spec) {
  RETURN_IF_ERROR(CheckFields(spec, "data", {"format", "train", "test", "augment"}));
  return LoadCifar(files, spec, CifarLabels::kTen);
}

absl::StatusOr<DataSets> LoadCifar100(FileSystem& files, const json& spec) {
  RETURN_IF_ERROR(CheckFields(spec, "data", {"format", "train", "test", "augment", "cifar100"}));
  const json options = spec.value("cifar100", json::object());
  RETURN_IF_ERROR(CheckFields(options, "data.cifar100", {"labels"}));
  ASSIGN_OR_RETURN(const size_t labels,
                   ChoiceField(options, "data.cifar100", "labels", {"fine", "coarse"}));
  return LoadCifar(files, spec, labels == 0 ? CifarLabels::kFine : CifarLabels::kCoarse);
}

absl::StatusOr<DataSets> LoadRecords(FileSystem& files, const json& spec, bool ids) {
  RETURN_IF_ERROR(CheckFields(
      spec, "data",
      {"format", "train", "test", "augment", "classes", "columns", "tfrecord", "streaming"}));
  ASSIGN_OR_RETURN(const auto columns, ColumnsOf(spec));
  ASSIGN_OR_RETURN(const ClassCount classes, ClassesOf(spec));
  ASSIGN_OR_RETURN(const RecordDataOptions options,
                   ParseRecordSpec(spec.value("tfrecord", json::object()), "data.tfrecord",
                                   classes, columns));
  int64_t skipped = 0;
  std::optional<StreamedRecords> streamed;
  const auto read = [&](const SetFiles& of, ClassCount counted) -> absl::StatusOr<Dataset> {
    RecordDataOptions for_set = options;
    for_set.classes = counted;
    for_set.ids = ids;
    // The training set is the first; the test set is in memory in any case.
    if (spec.contains("streaming") && !streamed) {
      ASSIGN_OR_RETURN(streamed,
                       OpenStreamedRecords(files, of.list, spec["streaming"], for_set));
      skipped += streamed->skipped;
      return std::move(streamed->first);
    }
    ASSIGN_OR_RETURN(RecordData data, ReadRecords(files, of.list, for_set));
    skipped += data.skipped;
    return std::move(data.set);
  };
  ASSIGN_OR_RETURN(DataSets sets, LoadSets(files, spec, {true, classes, read}));
  if (streamed) {
    sets.stream = std::move(streamed->blocks);
    sets.streaming = streamed->options;
  }
  if (skipped > 0) {
    sets.source += " (" + std::to_string(skipped) + " damaged records passed over)";
  }
  return sets;
}

absl::StatusOr<DataSets> LoadCsv(FileSystem& files, const json& spec, bool ids) {
  RETURN_IF_ERROR(
      CheckFields(spec, "data", {"format", "train", "test", "classes", "columns", "csv"}));
  const json options = spec.value("csv", json::object());
  const std::string path = "data.csv";
  RETURN_IF_ERROR(CheckFields(options, path, {"header", "delimiter", "labelColumn", "columns"}));
  CsvOptions csv;
  ASSIGN_OR_RETURN(csv.header, FlagField(options, path, "header", true));
  ASSIGN_OR_RETURN(csv.label_column, TextField(options, path, "labelColumn"));
  ASSIGN_OR_RETURN(csv.columns, TextsField(options, path, "columns"));
  ASSIGN_OR_RETURN(const auto columns, ColumnsOf(spec));
  if (columns && !csv.columns.empty()) {
    return InvalidField(path + ".columns", "must not be there beside data.columns, which says all");
  }
  csv.feature_columns = columns;
  csv.ids = ids && columns == nullptr;
  ASSIGN_OR_RETURN(csv.delimiter, DelimiterOf(spec));
  ASSIGN_OR_RETURN(const ClassCount classes, ClassesOf(spec));
  const auto read = [&](const SetFiles& of, ClassCount counted) {
    CsvOptions for_set = csv;
    for_set.classes = counted;
    return ReadCsv(files, of.list, for_set);
  };
  return LoadSets(files, spec, {true, classes, read});
}

absl::StatusOr<DataSets> LoadRaw(FileSystem& files, const json& spec) {
  RETURN_IF_ERROR(
      CheckFields(spec, "data", {"format", "train", "test", "augment", "classes", "raw"}));
  const json options = spec.value("raw", json::object());
  const std::string path = "data.raw";
  RETURN_IF_ERROR(CheckFields(options, path, {"dtype", "shape", "labelDtype"}));
  RawOptions raw;
  ASSIGN_OR_RETURN(const size_t dtype, ChoiceField(options, path, "dtype", {"uint8", "float32"}));
  raw.type = dtype == 0 ? RawNumber::kUint8 : RawNumber::kFloat32;
  ASSIGN_OR_RETURN(raw.shape, ShapeField(options, path, "shape"));
  if (raw.shape.empty()) return InvalidField(path + ".shape", "is missing");
  ASSIGN_OR_RETURN(const size_t label, ChoiceField(options, path, "labelDtype",
                                                   {"uint8", "int32", "int64", "float32"}));
  constexpr RawNumber kTypes[] = {RawNumber::kUint8, RawNumber::kInt32, RawNumber::kInt64,
                                  RawNumber::kFloat32};
  raw.label_type = kTypes[label];
  ASSIGN_OR_RETURN(const ClassCount classes, ClassesOf(spec));
  const auto read = [&](const SetFiles& of, ClassCount counted) {
    RawOptions for_set = raw;
    for_set.classes = counted;
    return ReadRaw(files, of.images, of.labels, for_set);
  };
  return LoadSets(files, spec, {false, classes, read});
}

absl::StatusOr<DataSets> LoadText(FileSystem& files, const json& spec) {
  RETURN_IF_ERROR(CheckFields(spec, "data", {"format", "train", "test", "text"}));
  const json options = spec.value("text", json::object());
  RETURN_IF_ERROR(CheckFields(options, "data.text", {"context"}));
  ASSIGN_OR_RETURN(const int64_t context, WholeField(options, "data.text", "context",
                                                     {kDefaultContext, 1, kFeaturesMax - 1}));
  return LoadSets(files, spec, {.takes_list = true, .read = [&](const SetFiles& of, ClassCount) {
    return ReadText(files, of.list, context);
  }});
}

absl::StatusOr<ImageShape> GeneratedImage(const json& options, const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ShapeField(options, path, "image"));
  if (sizes.empty()) return ImageShape();
  const ImageShape image = sizes.size() == 3 ? ImageShape{sizes[0], sizes[1], sizes[2]}
                                             : ImageShape{};
  if (image.pixels() > 0 && image.pixels() <= kFeaturesMax) return image;
  return InvalidField(path + ".image", "must be height, width and channels, at most " +
                                           std::to_string(kFeaturesMax) + " numbers together");
}

struct GeneratedCounts {
  int64_t examples = 0;
  int64_t tests = 0;
};

absl::StatusOr<GeneratedCounts> CountsOf(const json& options, const std::string& path) {
  GeneratedCounts counts;
  ASSIGN_OR_RETURN(counts.examples,
                   WholeField(options, path, "examples", {kDefaultExamples, 1, kExamplesMax}));
  ASSIGN_OR_RETURN(counts.tests, WholeField(options, path, "testExamples",
                                            {kDefaultTestExamples, 0, kExamplesMax}));
  return counts;
}

absl::StatusOr<DataSets> LoadClicks(const json& spec, uint64_t seed) {
  const std::string path = "data.generated";
  RETURN_IF_ERROR(CheckFields(spec["generated"], path, {"examples", "testExamples", "pattern"}));
  ASSIGN_OR_RETURN(const GeneratedCounts counts, CountsOf(spec["generated"], path));
  ASSIGN_OR_RETURN(const auto columns, ColumnsOf(spec));
  if (!columns) return InvalidField("data.columns", "is missing: clicks have texts and numbers");
  ASSIGN_OR_RETURN(GeneratedClicks train,
                   GenerateClicks({.seed = seed, .examples = counts.examples}, *columns));
  DataSets sets{std::move(train.set), std::nullopt,
                "generated: " + std::to_string(counts.examples) + " possible clicks, seed " +
                    std::to_string(seed)};
  if (counts.tests == 0) return sets;
  ASSIGN_OR_RETURN(GeneratedClicks test,
                   GenerateClicks({.seed = seed, .first = counts.examples,
                                   .examples = counts.tests}, *columns));
  sets.test = std::move(test.set);
  sets.source += ", no model's loss on the test set is below " + std::to_string(test.best_loss);
  return sets;
}

absl::StatusOr<DataSets> Generate(const json& spec, uint64_t seed) {
  RETURN_IF_ERROR(CheckFields(spec, "data", {"format", "generated", "columns"}));
  const json options = spec.value("generated", json::object());
  const std::string path = "data.generated";
  RETURN_IF_ERROR(CheckFields(options, path, {"examples", "testExamples", "features", "classes",
                                              "pattern", "image"}));
  ASSIGN_OR_RETURN(const size_t pattern,
                   ChoiceField(options, path, "pattern", {"centres", "waves", "clicks"}));
  if (pattern == 2) return LoadClicks(spec, seed);
  if (spec.contains("columns")) return InvalidField("data.columns", "is of pattern clicks only");
  ASSIGN_OR_RETURN(const GeneratedCounts counts, CountsOf(options, path));
  ASSIGN_OR_RETURN(int64_t features,
                   WholeField(options, path, "features", {kDefaultFeatures, 1, kFeaturesMax}));
  ASSIGN_OR_RETURN(const int64_t classes,
                   WholeField(options, path, "classes", {kDefaultClasses, 0, kFeaturesMax}));
  ASSIGN_OR_RETURN(const ImageShape image, GeneratedImage(options, path));
  const bool waves = pattern == 1;
  if (waves != (image.pixels() > 0)) {
    return InvalidField(path + ".image", waves ? "is missing: waves fill images"
                                               : "is of pattern waves only");
  }
  if (waves && (classes == 0 || options.contains("features"))) {
    return InvalidField(path + (classes == 0 ? ".classes" : ".features"),
                        classes == 0 ? "waves have classes" : "the image decides for waves");
  }
  if (waves) features = image.pixels();
  const auto make = [&](int64_t first, int64_t count) {
    const GeneratedOptions generated{
        seed, first, count, features, static_cast<int32_t>(classes), image};
    if (waves) return GenerateWaves(generated);
    return classes == 0 ? GenerateRegression(generated) : GenerateClassification(generated);
  };
  DataSets sets{make(0, counts.examples), std::nullopt,
                "generated: " + std::to_string(counts.examples) + " examples of " +
                    std::to_string(features) + " features, seed " + std::to_string(seed)};
  if (counts.tests > 0) sets.test = make(counts.examples, counts.tests);
  return sets;
}

absl::StatusOr<DataSets> LoadFormat(FileSystem& files, const json& spec,
                                    const LoadOptions& options) {
  if (!spec.is_object()) return InvalidField("data", "must be an object");
  std::string format = "idx";
  if (spec.contains("format")) {
    ASSIGN_OR_RETURN(format, TextField(spec, "data", "format"));
  }
  if (spec.contains("streaming") && format != "tfrecord") {
    return InvalidField("data.streaming", "is of format tfrecord only");
  }
  if (format == "idx") return LoadIdx(files, spec, options.ids);
  if (format == "generated") return Generate(spec, options.seed);
  if (format == "cifar10") return LoadCifar10(files, spec);
  if (format == "cifar100") return LoadCifar100(files, spec);
  if (format == "tfrecord") return LoadRecords(files, spec, options.ids);
  if (format == "csv") return LoadCsv(files, spec, options.ids);
  if (format == "raw") return LoadRaw(files, spec);
  if (format == "text") return LoadText(files, spec);
  return InvalidField("data.format", "unknown format \"" + format +
                                         "\", want idx, generated, cifar10, cifar100, tfrecord, "
                                         "csv, raw or text");
}

// Sets grow as they are read: where that ends is not known before.
absl::StatusOr<DataSets> LoadWhatFits(FileSystem& files, const json& spec,
                                      const LoadOptions& options) {
  try {
    ASSIGN_OR_RETURN(DataSets sets, LoadFormat(files, spec, options));
    if (!options.ids) return sets;
    if (sets.augment.any()) {
      return InvalidField("data.augment", "the model looks its features up: they are no images");
    }
    RETURN_IF_ERROR(sets.train.TakeAsIds());
    if (sets.test) {
      RETURN_IF_ERROR(sets.test->TakeAsIds());
    }
    return sets;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "data: there is not enough memory for it; give the replicas more, or, of TFRecord files, "
        "read parts with data.streaming");
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const FeatureColumns>> ColumnsOf(const json& spec) {
  if (!spec.contains("columns")) return std::shared_ptr<const FeatureColumns>();
  ASSIGN_OR_RETURN(FeatureColumns columns, FeatureColumns::Parse(spec["columns"], "data.columns"));
  return std::make_shared<const FeatureColumns>(std::move(columns));
}

absl::StatusOr<char> DelimiterOf(const json& spec) {
  const json options = spec.is_object() ? spec.value("csv", json()) : json();
  if (!options.contains("delimiter")) return ',';
  ASSIGN_OR_RETURN(const std::string delimiter, TextField(options, "data.csv", "delimiter"));
  if (delimiter.size() != 1) return InvalidField("data.csv.delimiter", "must be one character");
  return delimiter[0];
}

absl::StatusOr<DataSets> LoadData(FileSystem& files, const json& spec,
                                  const LoadOptions& options) {
  ASSIGN_OR_RETURN(DataSets sets, LoadWhatFits(files, spec, options));
  if (sets.train_files.empty()) {
    sets.identity = sets.source;
    return sets;
  }
  ASSIGN_OR_RETURN(sets.identity, IdentifyFiles(files, sets.train_files, sets.train_examples()));
  // What becomes of the files' values: with other columns an example is another one.
  if (spec.contains("columns")) {
    sets.identity += ", columns " + HexOf(StableHash(spec["columns"].dump()));
  }
  return sets;
}

}  // namespace taas
