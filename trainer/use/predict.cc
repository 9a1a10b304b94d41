#include "trainer/use/predict.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"

namespace taas {
namespace {

// Examples of one run: more gains nothing, fewer cost calls.
constexpr int64_t kBatch = 64;
// Of the text of examples: what is more is a data set, which `data.test` is for.
constexpr uint64_t kInputBytesMax = uint64_t{1} << 30;

absl::Status BadLine(const std::string& name, int64_t line, const std::string& what) {
  return absl::InvalidArgumentError("read examples " + name + ": line " + std::to_string(line) +
                                    ": " + what);
}

// Numbers with commas, semicolons or white space between them. False if there is anything else.
bool SplitNumbers(std::string_view text, std::vector<float>* out) {
  constexpr std::string_view kBetween = ",; \t\r";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return true;
    float value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(rest - text.data()));
    if (!text.empty() && kBetween.find(text.front()) == std::string_view::npos) return false;
    out->push_back(value);
  }
}

// Lists in lists are taken as they lie: an image may be written row by row.
bool Flatten(const nlohmann::json& json, int depth, std::vector<float>* out) {
  constexpr int kDepthMax = 8;
  if (json.is_number()) {
    out->push_back(json.get<float>());
    return true;
  }
  if (!json.is_array() || depth > kDepthMax) return false;
  return std::ranges::all_of(json, [&](const nlohmann::json& part) {
    return Flatten(part, depth + 1, out);
  });
}

bool ParseLine(std::string_view line, std::vector<float>* out) {
  if (line.front() != '[' && line.front() != '{') return SplitNumbers(line, out);
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return !json.is_discarded() && Flatten(json, 0, out);
  const auto features = json.find("features");
  return features != json.end() && Flatten(*features, 0, out);
}

// The values of an object by name, which the columns make numbers of.
absl::Status EncodeLine(std::string_view line, const FeatureColumns& columns,
                        std::vector<float>* out) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError("must be an object of the data's values by name, as " +
                                      nlohmann::json{{columns.sources().front(), 1}}.dump());
  }
  const nlohmann::json none;
  std::vector<SourceValue> values;
  for (const std::string& source : columns.sources()) {
    // A text stays where it lies: in `json`.
    const auto found = json.find(source);
    const auto value = SourceValueOf(found == json.end() ? none : *found);
    if (!value) {
      return absl::InvalidArgumentError("\"" + source + "\" must be a text, a number or null");
    }
    values.push_back(*value);
  }
  return columns.Encode(values, out);
}

bool BeginsAsIdx(FileSystem& files, const std::string& path) {
  const auto reader = GzipReader::Open(files, path);
  uint8_t magic[3] = {};
  return reader.ok() && (*reader)->Read(magic).value_or(0) == sizeof(magic) && magic[0] == 0 &&
         magic[1] == 0 && magic[2] >= 0x08 && magic[2] <= 0x0e;
}

void Softmax(std::span<const float> logits, std::span<float> out) {
  const float largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    out[i] = std::exp(logits[i] - largest);
    sum += static_cast<double>(out[i]);
  }
  for (float& value : out) value = static_cast<float>(static_cast<double>(value) / sum);
}

}  // namespace

std::string JsonOf(const Prediction& prediction) {
  const std::vector<float> values(prediction.values.begin(), prediction.values.end());
  if (prediction.label >= 0) {
    return nlohmann::ordered_json{{"class", prediction.label}, {"probabilities", values}}.dump();
  }
  if (values.size() == 1) return nlohmann::json{{"value", values[0]}}.dump();
  return nlohmann::json{{"value", values}}.dump();
}

absl::StatusOr<std::unique_ptr<Predictor>> Predictor::Make(const Runtime& runtime,
                                                           TrainedModel& trained) {
  const Model& model = trained.model;
  if (model.labels_are_features) {
    return absl::UnimplementedError(
        "a model of language predicts the next token of a text, not a class of an example; "
        "`taas-trainer eval` tells how well it does");
  }
  ASSIGN_OR_RETURN(
      auto session,
      Session::Compile(runtime, model.graph,
                       {.batch = kBatch,
                        .fetches = {model.is_classifier() ? model.logits : model.predictions},
                        .trainable = false}));
  for (size_t i = 0; i < trained.values.size(); ++i) {
    RETURN_IF_ERROR(session->UseVariable(i, TensorRef(trained.values[i])));
  }
  return std::unique_ptr<Predictor>(new Predictor(trained, std::move(session)));
}

absl::Status Predictor::Predict(std::span<const float> rows,
                                const std::function<void(const Prediction&)>& each) {
  const Model& model = trained_.model;
  const std::span<float> features = session_->FloatInput(model.features);
  const size_t width = features.size() / static_cast<size_t>(kBatch);
  std::vector<float> probabilities, room;
  for (size_t first = 0; first < rows.size(); first += features.size()) {
    const std::span<const float> part =
        rows.subspan(first, std::min(features.size(), rows.size() - first));
    // The rest of the last batch is of no interest.
    std::ranges::fill(std::ranges::copy(part, features.begin()).out, features.end(), 0.0f);
    RETURN_IF_ERROR(session_->Run(RunKind::kForward));
    ASSIGN_OR_RETURN(
        const std::span<const float> outputs,
        OnHost(session_->output(model.is_classifier() ? model.logits : model.predictions), &room));
    const size_t out_width = outputs.size() / static_cast<size_t>(kBatch);
    for (size_t row = 0; row < part.size() / width; ++row) {
      const std::span<const float> values = outputs.subspan(row * out_width, out_width);
      if (!model.is_classifier()) {
        each({.values = values});
        continue;
      }
      probabilities.resize(out_width);
      Softmax(values, probabilities);
      each({.label = std::ranges::max_element(values) - values.begin(), .values = probabilities});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> ParseExamples(std::string_view text, const std::string& name,
                                                 int64_t features,
                                                 const FeatureColumns* columns) {
  std::vector<float> rows;
  int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty()) continue;
    if (columns != nullptr) {
      if (const absl::Status status = EncodeLine(line, *columns, &rows); !status.ok()) {
        return BadLine(name, number, std::string(status.message()));
      }
      continue;
    }
    const size_t before = rows.size();
    if (!ParseLine(line, &rows)) {
      return BadLine(name, number,
                     "must be numbers: [0.1, 0.2], {\"features\": [0.1, 0.2]} or 0.1, 0.2");
    }
    const int64_t got = static_cast<int64_t>(rows.size() - before);
    if (got != features) {
      return BadLine(name, number, "has " + std::to_string(got) + " numbers, the model takes " +
                                       std::to_string(features));
    }
  }
  return rows;
}

absl::StatusOr<std::vector<float>> ReadExamples(FileSystem& files, const std::string& path,
                                                int64_t features, const FeatureColumns* columns) {
  ASSIGN_OR_RETURN(const auto file, files.OpenRead(path));
  if (columns != nullptr || !BeginsAsIdx(files, path)) {
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    if (size > kInputBytesMax) {
      return absl::InvalidArgumentError("read examples " + path + ": " + std::to_string(size) +
                                        " bytes are too many; split the file");
    }
    ASSIGN_OR_RETURN(const std::string text, files.ReadAll(path));
    return ParseExamples(text, path, features, columns);
  }
  ASSIGN_OR_RETURN(const IdxArray array, ReadIdx(files, path));
  std::vector<float> rows = array.Floats();
  const int64_t examples = array.shape.empty() ? 0 : array.shape[0];
  if (std::ssize(rows) != examples * features) {
    return absl::InvalidArgumentError(
        "read examples " + path + ": it has " + std::to_string(examples) + " examples and " +
        std::to_string(rows.size()) + " numbers, the model takes " + std::to_string(features) +
        " each");
  }
  if (array.type == IdxType::kUint8) {
    for (float& value : rows) value *= 1.0f / 255.0f;
  }
  return rows;
}

}  // namespace taas
