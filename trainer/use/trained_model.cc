#include "trainer/use/trained_model.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "operator/base/bounded_file.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/checkpoint/checkpoint_list.h"
#include "trainer/data/load_data.h"
#include "trainer/formats/safetensors.h"
#include "trainer/model/data_shape.h"
#include "trainer/model/gpt2_published.h"

namespace taas {
namespace {

// TensorFlow's name of the moving average of a variable.
constexpr char kAverage[] = "/ExponentialMovingAverage";
// Of a directory in which others keep a model, and what it is like.
constexpr char kModelFile[] = "model.safetensors";
constexpr char kConfigFile[] = "config.json";
// Each known one has a few kilobytes.
constexpr size_t kConfigBytesMax = 1 << 20;

// The variables of a file, of whichever format.
struct VariableFile {
  std::string source;
  int64_t step = 0;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::function<absl::Status(const std::string&, std::span<const int64_t>, std::span<float>)> read;
};

absl::StatusOr<VariableFile> OpenSafetensors(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(auto reader, SafetensorsReader::Open(files, path));
  VariableFile file{.source = path};
  // Those of a GPT-2 as others publish it have names of theirs.
  std::map<std::string, std::string> published;
  for (const auto& [name, entry] : reader->entries()) {
    const std::string own = OwnName(name).value_or(name);
    file.shapes[own] = entry.shape;
    published[own] = name;
  }
  if (const auto step = reader->metadata().find("global_step"); step != reader->metadata().end()) {
    const std::string& text = step->second;
    std::from_chars(text.data(), text.data() + text.size(), file.step);
  }
  file.read = [reader = std::shared_ptr(std::move(reader)), published = std::move(published)](
                  const std::string& name, std::span<const int64_t> shape, std::span<float> out) {
    const auto found = published.find(name);
    return reader->ReadFloats(found == published.end() ? name : found->second, shape, out);
  };
  return file;
}

// The file that `path` is or has, unless it has checkpoints.
std::optional<std::string> FindSafetensors(FileSystem& files, const std::string& path) {
  if (path.ends_with(".safetensors")) return path;
  const auto names = files.List(path);
  if (!names.ok() || std::ranges::find(*names, kModelFile) == names->end()) return std::nullopt;
  const auto steps = ListCheckpoints(files, path);
  if (!steps.ok() || !steps->empty()) return std::nullopt;
  return path + (path.ends_with('/') ? "" : "/") + kModelFile;
}

absl::StatusOr<VariableFile> OpenVariables(FileSystem& files, const std::string& path) {
  if (const auto safetensors = FindSafetensors(files, path)) {
    return OpenSafetensors(files, *safetensors);
  }
  ASSIGN_OR_RETURN(auto reader, OpenCheckpoint(files, path));
  VariableFile file{.source = reader->prefix()};
  for (const auto& [name, entry] : reader->entries()) file.shapes[name] = entry.shape;
  if (reader->Has("global_step")) {
    ASSIGN_OR_RETURN(file.step, reader->ReadInt64("global_step"));
  }
  file.read = [reader = std::shared_ptr(std::move(reader))](
                  const std::string& name, std::span<const int64_t> shape, std::span<float> out) {
    return reader->ReadFloats(name, shape, out);
  };
  return file;
}

// Of the models whose first layer takes the features and whose last gives the classes, or tokens.
std::optional<DataShape> ShapeFromVariables(const TrainerConfig& config, const VariableFile& file) {
  const auto json = nlohmann::json::parse(config.model, nullptr, /*allow_exceptions=*/false);
  const std::string model = json.is_object() ? json.value("name", "") : "";
  const auto dims = [&](const char* name) {
    const auto found = file.shapes.find(name);
    const bool matrix = found != file.shapes.end() && found->second.size() == 2;
    return matrix ? found->second : std::vector<int64_t>();
  };
  const std::vector<int64_t> linear = dims("linear/weights"), last = dims("softmax_linear/weights");
  const std::vector<int64_t> first = dims("hidden1/weights");
  const std::vector<int64_t> tokens = dims("wte"), positions = dims("wpe");
  if (model == "linear" && !linear.empty()) {
    return DataShape{.features = linear[0], .targets = linear[1]};
  }
  if (model == "softmax" && !last.empty()) {
    return DataShape{.features = last[0], .classes = last[1]};
  }
  if (model == "mlp" && !first.empty() && !last.empty()) {
    return DataShape{.features = first[0], .classes = last[1]};
  }
  if (model == "gpt2" && !tokens.empty() && !positions.empty()) {
    return DataShape{.features = positions[0], .vocabulary = tokens[0]};
  }
  return std::nullopt;
}

// Columns say what the features are, and the last layer how many answers there are.
std::optional<DataShape> ShapeFromColumns(const FeatureColumns& columns, const VariableFile& file) {
  DataShape shape{.features = std::ssize(columns.shapes()), .columns = columns.shapes()};
  const auto classes = file.shapes.find("softmax_linear/biases");
  const auto targets = file.shapes.find("linear/biases");
  if (classes != file.shapes.end() && classes->second.size() == 1) {
    shape.classes = classes->second[0];
  } else if (targets != file.shapes.end() && targets->second.size() == 1) {
    shape.targets = targets->second[0];
  } else {
    return std::nullopt;
  }
  return shape;
}

absl::StatusOr<DataShape> FindShape(FileSystem& files, const TrainerConfig& config,
                                    const nlohmann::json& spec,
                                    const FeatureColumns* columns,
                                    const VariableFile& file) {
  if (columns != nullptr) {
    if (const auto shape = ShapeFromColumns(*columns, file)) return *shape;
  }
  if (const auto shape = ShapeFromVariables(config, file)) return *shape;
  const auto data = LoadData(
      files, spec, {.seed = config.seed, .ids = FeaturesAreIds(config.model)});
  if (!data.ok()) {
    return Annotate(data.status(),
                    "the size of the model's input follows from its data (spec.trainer.data)");
  }
  DataShape shape = ShapeOf(data->train);
  shape.pixels.reset();  // Whoever asks has numbers.
  return shape;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BundleReader>> OpenCheckpoint(FileSystem& files,
                                                             const std::string& path) {
  std::string dir = path;
  while (dir.size() > 1 && dir.ends_with('/')) dir.pop_back();
  if (!files.List(dir).ok()) return BundleReader::Open(files, path);
  ASSIGN_OR_RETURN(const std::vector<int64_t> steps, ListCheckpoints(files, dir));
  absl::Status newest = absl::NotFoundError(
      "open the newest checkpoint of " + dir +
      ": there is none (model.ckpt-STEP.index); name the directory of a training, or a prefix");
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    auto reader = BundleReader::Open(files, CheckpointPrefix(dir, *step));
    const absl::Status status = reader.ok() ? (*reader)->VerifyAll() : reader.status();
    if (status.ok()) return reader;
    Log(LogLevel::kWarning, "a checkpoint cannot be read; the one before it is tried",
        {{"checkpoint", CheckpointPrefix(dir, *step)}, {"error", std::string(status.message())}});
    if (step == steps.rbegin()) newest = status;
  }
  return newest;
}

absl::StatusOr<std::optional<std::string>> ModelBeside(FileSystem& files,
                                                       const std::string& path) {
  const auto safetensors = FindSafetensors(files, path);
  if (!safetensors) return std::optional<std::string>();
  const std::string config = DirName(*safetensors) + "/" + kConfigFile;
  ASSIGN_OR_RETURN(const bool exists, files.Exists(config));
  if (!exists) return std::optional<std::string>();
  ASSIGN_OR_RETURN(const std::string text, ReadBounded(files, config, kConfigBytesMax));
  auto model = ModelOfPublishedConfig(text);
  if (!model.ok()) return Annotate(model.status(), "read " + config);
  return std::optional<std::string>(*std::move(model));
}

absl::StatusOr<TrainedModel> LoadTrainedModel(FileSystem& files, const TrainerConfig& config,
                                              const std::string& path) {
  ASSIGN_OR_RETURN(const VariableFile file, OpenVariables(files, path));
  TrainedModel trained{.source = file.source, .step = file.step};
  const nlohmann::json data =
      nlohmann::json::parse(config.data, nullptr, /*allow_exceptions=*/false);
  ASSIGN_OR_RETURN(trained.columns, ColumnsOf(data));
  ASSIGN_OR_RETURN(trained.delimiter, DelimiterOf(data));
  ASSIGN_OR_RETURN(trained.shape, FindShape(files, config, data, trained.columns.get(), file));
  ASSIGN_OR_RETURN(const ModelSpec spec, ParseModel(config.model, trained.shape));
  ASSIGN_OR_RETURN(trained.model, BuildModel(spec, GraphMode::kInference));
  for (const Value variable : trained.model.graph.Variables()) {
    const Node& node = trained.model.graph.node(variable);
    const std::vector<int64_t>& dims = node.outputs[0].shape.dims();
    const std::string average = node.name + kAverage;
    const bool averaged =
        config.moving_average && node.trainable && file.shapes.contains(average);
    trained.values.emplace_back(static_cast<size_t>(node.outputs[0].shape.count()));
    RETURN_IF_ERROR(file.read(averaged ? average : node.name, dims, trained.values.back()))
        .With("load model " + spec.name);
  }
  return trained;
}

}  // namespace taas
