#include "trainer/use/predict.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/data/csv.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"
#include "trainer/data/number_text.h"

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

// Numbers with commas, semicolons or white space between them. False if there is anything else. T
// is float, or double of ids, which is exact far beyond any table.
template <typename T>
bool SplitNumbers(std::string_view text, std::vector<T>* out) {
  constexpr std::string_view kBetween = ",; \t\r";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return true;
    T value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(rest - text.data()));
    if (!text.empty() && kBetween.find(text.front()) == std::string_view::npos) return false;
    out->push_back(value);
  }
}

// Lists in lists are taken as they lie: an image may be written row by row.
template <typename T>
bool Flatten(const nlohmann::json& json, int depth, std::vector<T>* out) {
  constexpr int kDepthMax = 8;
  if (json.is_number()) {
    out->push_back(json.get<T>());
    return true;
  }
  if (!json.is_array() || depth > kDepthMax) return false;
  return std::ranges::all_of(json, [&](const nlohmann::json& part) {
    return Flatten(part, depth + 1, out);
  });
}

template <typename T>
bool ParseLine(std::string_view line, std::vector<T>* out) {
  if (line.front() != '[' && line.front() != '{') return SplitNumbers(line, out);
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return !json.is_discarded() && Flatten(json, 0, out);
  const auto features = json.find("features");
  return features != json.end() && Flatten(*features, 0, out);
}

absl::Status AddIds(std::span<const double> numbers, Examples* out) {
  for (const double number : numbers) {
    // Also of what int64 does not hold, no table has a row.
    constexpr double kMost = int64_t{1} << 53;
    if (number != std::floor(number) || std::abs(number) > kMost) {
      return absl::InvalidArgumentError("must be whole numbers, which the model looks up; " +
                                        nlohmann::json(number).dump() + " is none");
    }
    out->ids.push_back(static_cast<int64_t>(number));
  }
  return absl::OkStatus();
}

// What the columns make of their sources' values.
absl::Status EncodeValues(const std::vector<SourceValue>& values, const ExampleForm& form,
                          Examples* out) {
  const FeatureColumns& columns = *form.columns;
  if (!form.ids || columns.ids() > 0) return columns.Encode(values, &out->features, &out->ids);
  // Quantities, of a model that looks them up.
  std::vector<float> quantities;
  RETURN_IF_ERROR(columns.Encode(values, &quantities, &out->ids));
  return AddIds(std::vector<double>(quantities.begin(), quantities.end()), out);
}

// A table as the training reads them, whose first line names its columns; more of them, such as the
// label's, are passed over.
class TableLines {
 public:
  // False: `header` names no source of the columns, so it is no such table.
  absl::StatusOr<bool> Begin(std::string_view header, const ExampleForm& form) {
    if (Trim(header).starts_with('{')) return false;
    if (!SplitCsvLine(header, form.delimiter, &values_)) return false;
    for (const std::string& value : values_) names_.emplace_back(Trim(value));
    const auto is_named = [this](const std::string& source) {
      return std::ranges::count(names_, source) > 0;
    };
    if (!std::ranges::any_of(form.columns->sources(), is_named)) return false;
    std::vector<std::string> sorted = names_;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice == sorted.end()) return true;
    return absl::InvalidArgumentError("two columns are called \"" + *twice + "\"");
  }

  absl::Status Encode(std::string_view line, const ExampleForm& form, Examples* out) {
    if (!SplitCsvLine(line, form.delimiter, &values_)) {
      return absl::InvalidArgumentError("a quote is not closed");
    }
    if (values_.size() != names_.size()) {
      return absl::InvalidArgumentError("it has " + std::to_string(values_.size()) +
                                        " values, want " + std::to_string(names_.size()));
    }
    std::vector<SourceValue> sources;
    for (const std::string& source : form.columns->sources()) {
      const auto found = std::ranges::find(names_, source);
      if (found == names_.end()) {
        return absl::InvalidArgumentError("the table has no column \"" + source + "\"");
      }
      const std::string_view text = Trim(values_[static_cast<size_t>(found - names_.begin())]);
      sources.push_back(text.empty() ? SourceValue() : SourceValue(text));
    }
    return EncodeValues(sources, form, out);
  }

 private:
  std::vector<std::string> names_, values_;
};

// The values of an object by name, which the columns make numbers of.
absl::Status EncodeLine(std::string_view line, const ExampleForm& form, Examples* out) {
  const FeatureColumns& columns = *form.columns;
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError("must be an object of the data's values by name, as " +
                                      nlohmann::json{{columns.sources().front(), 1}}.dump() +
                                      ", or the first line of a CSV, which names its columns "
                                      "with '" + std::string(1, form.delimiter) +
                                      "' between them, as the training's files");
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
  return EncodeValues(values, form, out);
}

// The numbers of a line.
absl::Status AddLine(std::string_view line, const ExampleForm& form, Examples* out) {
  const size_t before = out->features.size();
  std::vector<double> ids;
  if (!(form.ids ? ParseLine(line, &ids) : ParseLine(line, &out->features))) {
    return absl::InvalidArgumentError(
        "must be numbers: [0.1, 0.2], {\"features\": [0.1, 0.2]} or 0.1, 0.2");
  }
  const size_t got = form.ids ? ids.size() : out->features.size() - before;
  if (static_cast<int64_t>(got) != form.features) {
    return absl::InvalidArgumentError("has " + std::to_string(got) +
                                      " numbers, the model takes " +
                                      std::to_string(form.features));
  }
  return AddIds(ids, out);
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

// From example `first` on.
template <typename T>
void FillBatch(std::span<const T> all, int64_t first, std::span<T> batch) {
  const size_t width = batch.size() / static_cast<size_t>(kBatch);
  CHECK(static_cast<size_t>(first) * width < all.size()) << "examples have other numbers";
  const std::span<const T> rest = all.subspan(static_cast<size_t>(first) * width);
  const auto end =
      std::ranges::copy(rest.first(std::min(rest.size(), batch.size())), batch.begin()).out;
  // The rest of the last batch is of no interest.
  std::fill(end, batch.end(), T{});
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
  if (model.of_tokens) {
    return absl::UnimplementedError(
        "a model of language predicts the next token of a text, not a class of an example; "
        "`generate` prints one and `eval` tells how well it does: `taas generate JOB` of a job, "
        "`taas-trainer generate` without one");
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

absl::Status Predictor::Predict(const Examples& examples,
                                const std::function<void(const Prediction&)>& each) {
  const Model& model = trained_.model;
  std::vector<float> probabilities, room;
  for (int64_t first = 0; first < examples.count; first += kBatch) {
    if (!model.features.empty()) {
      FillBatch(std::span(examples.features), first, session_->FloatInput(model.features));
    }
    if (!model.ids.empty()) {
      FillBatch(std::span(examples.ids), first, session_->Int64Input(model.ids));
    }
    RETURN_IF_ERROR(session_->Run(RunKind::kForward));
    ASSIGN_OR_RETURN(
        const std::span<const float> outputs,
        OnHost(session_->output(model.is_classifier() ? model.logits : model.predictions), &room));
    const size_t out_width = outputs.size() / static_cast<size_t>(kBatch);
    const size_t rows = static_cast<size_t>(std::min(kBatch, examples.count - first));
    for (size_t row = 0; row < rows; ++row) {
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

ExampleForm FormOf(const TrainedModel& trained) {
  return {.features = trained.shape.features,
          .ids = !trained.model.ids.empty(),
          .columns = trained.columns.get(),
          .delimiter = trained.delimiter};
}

absl::StatusOr<Examples> ParseExamples(std::string_view text, const std::string& name,
                                       const ExampleForm& form) {
  Examples examples;
  std::optional<TableLines> table;
  int64_t number = 0;
  bool first = true;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string_view row = line;  // Of a table: white space may be what is between its values.
    if (row.ends_with('\r')) row.remove_suffix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty()) continue;
    if (std::exchange(first, false) && form.columns != nullptr) {
      TableLines begun;
      const absl::StatusOr<bool> is_table = begun.Begin(row, form);
      if (!is_table.ok()) return BadLine(name, number, std::string(is_table.status().message()));
      if (*is_table) table = std::move(begun);
      if (table.has_value()) continue;
    }
    const absl::Status status = form.columns == nullptr ? AddLine(line, form, &examples)
                                : table.has_value()     ? table->Encode(row, form, &examples)
                                                        : EncodeLine(line, form, &examples);
    if (!status.ok()) return BadLine(name, number, std::string(status.message()));
    ++examples.count;
  }
  return examples;
}

absl::StatusOr<Examples> ReadExamples(FileSystem& files, const std::string& path,
                                      const ExampleForm& form) {
  ASSIGN_OR_RETURN(const auto file, files.OpenRead(path));
  if (form.columns != nullptr || !BeginsAsIdx(files, path)) {
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    if (size > kInputBytesMax) {
      return absl::InvalidArgumentError("read examples " + path + ": " + std::to_string(size) +
                                        " bytes are too many; split the file");
    }
    ASSIGN_OR_RETURN(const std::string text, files.ReadAll(path));
    return ParseExamples(text, path, form);
  }
  ASSIGN_OR_RETURN(const IdxArray array, ReadIdx(files, path));
  Examples examples{.count = array.shape.empty() ? 0 : array.shape[0]};
  if (array.count() != examples.count * form.features) {
    return absl::InvalidArgumentError(
        "read examples " + path + ": it has " + std::to_string(examples.count) +
        " examples and " + std::to_string(array.count()) + " numbers, the model takes " +
        std::to_string(form.features) + " each");
  }
  if (form.ids) {
    RETURN_IF_ERROR(AddIds(array.Numbers<double>(), &examples)).With("read examples " + path);
    return examples;
  }
  examples.features = array.Numbers<float>();
  if (array.type == IdxType::kUint8) {
    for (float& value : examples.features) value *= 1.0f / 255.0f;
  }
  return examples;
}

}  // namespace taas
