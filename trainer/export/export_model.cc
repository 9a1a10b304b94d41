#include "trainer/export/export_model.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "operator/base/status.h"
#include "trainer/checkpoint/tensor.h"
#include "trainer/export/graph_nodes.h"
#include "trainer/export/saved_model.h"
#include "trainer/export/tensorflow_graph.h"
#include "trainer/formats/safetensors.h"
#include "trainer/model/gpt2_published.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

constexpr char kStep[] = "global_step";
constexpr char kPublishedConfig[] = "/config.json";
// A file that is written once to see whether that works.
constexpr char kProbe[] = "/.taas-try";

// As other programs look for it; its names too, of a GPT-2.
absl::Status WriteModelSafetensors(FileSystem& files, const std::string& path,
                                   const ExportOptions& options) {
  const Graph& graph = options.model->graph;
  const bool published = options.model->of_tokens;
  std::vector<TensorView> tensors;
  const std::vector<Value> variables = graph.Variables();
  for (size_t i = 0; i < variables.size(); ++i) {
    const Node& node = graph.node(variables[i]);
    tensors.push_back(FloatTensor(published ? PublishedName(node.name) : node.name,
                                  node.outputs[0].shape.dims(), options.values[i]));
  }
  SafetensorsOptions write{.metadata = {{kStep, std::to_string(options.step)}},
                           .bfloat16 = options.bfloat16};
  // As transformers writes it, to say that names and places are those of PyTorch.
  if (published) write.metadata["format"] = "pt";
  return WriteSafetensors(files, path, tensors, write);
}

absl::StatusOr<ServedModel> Served(const ExportOptions& options) {
  const Model& model = *options.model;
  ServedModel served{.graph = &model.graph, .values = options.values};
  for (const std::string& input : {model.features, model.ids}) {
    if (input.empty()) continue;
    ASSIGN_OR_RETURN(const Value value, model.graph.Find(input));
    served.inputs.emplace_back(input, value);
  }
  if (options.columns != nullptr) {
    for (const FeatureColumns::Normaliser& of : options.columns->normalisers()) {
      served.scaled.input = model.features;
      served.scaled.scale.push_back(of.scale);
      served.scaled.offset.push_back(of.offset);
    }
  }
  const std::string& name = model.is_classifier() ? model.logits : model.predictions;
  ASSIGN_OR_RETURN(const Value output, model.graph.Find(name));
  served.outputs = {{model.is_classifier() ? "logits" : "predictions", output}};
  if (model.is_classifier()) served.logits = "logits";
  return served;
}

}  // namespace

absl::StatusOr<ExportFormat> ParseExportFormat(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (small == "safetensors") return ExportFormat::kSafetensors;
  if (small == "savedmodel") return ExportFormat::kSavedModel;
  return absl::InvalidArgumentError("must be safetensors or savedModel, is \"" +
                                    std::string(text) + "\"");
}

std::string SafetensorsPath(const std::string& path) {
  if (path.ends_with(".safetensors")) return path;
  return path + (path.ends_with('/') ? "" : "/") + "model.safetensors";
}

absl::Status CheckExport(const Model& model, ExportFormat format) {
  if (format != ExportFormat::kSavedModel) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ServedModel served, Served({.model = &model}));
  tf::GraphDef graph;
  NodeAdder nodes(&graph);
  std::vector<Value> ends;
  for (const auto& [name, end] : served.outputs) ends.push_back(end);
  return Translate(model.graph, ends, &nodes).status();
}

absl::Status TryExportPath(FileSystem& files, const std::string& path, ExportFormat format) {
  const std::string file = SafetensorsPath(path);
  const std::string dir = format == ExportFormat::kSafetensors ? DirName(file) : path;
  RETURN_IF_ERROR(files.MakeDirs(dir));
  if (format == ExportFormat::kSafetensors && files.List(file).ok()) {
    return absl::FailedPreconditionError("export to " + file +
                                         ": it is a directory; remove it, or export elsewhere");
  }
  const std::string probe = dir + kProbe;
  RETURN_IF_ERROR(files.WriteAtomically(probe, "x"));
  return files.Remove(probe);
}

absl::Status ExportModel(FileSystem& files, const std::string& path,
                         const ExportOptions& options) {
  if (options.format == ExportFormat::kSafetensors) {
    const std::string file = SafetensorsPath(path);
    RETURN_IF_ERROR(files.MakeDirs(DirName(file)));
    RETURN_IF_ERROR(WriteModelSafetensors(files, file, options));
    // A directory is this model's alone.
    if (!options.model->of_tokens || file == path) return absl::OkStatus();
    return files.WriteAtomically(DirName(file) + kPublishedConfig,
                                 PublishedConfig(options.model->graph));
  }
  if (options.bfloat16) {
    return absl::InvalidArgumentError("bfloat16 is of format safetensors only");
  }
  ASSIGN_OR_RETURN(const ServedModel served, Served(options));
  return WriteSavedModel(files, path, served);
}

absl::Status ConvertCheckpoint(FileSystem& files, const BundleReader& checkpoint,
                               const std::string& path, bool bfloat16) {
  SafetensorsOptions options{.bfloat16 = bfloat16};
  std::vector<TensorValue> values;
  for (const auto& [name, entry] : checkpoint.entries()) {
    ASSIGN_OR_RETURN(TensorValue value, checkpoint.Read(name));
    if (value.type == ElementType::kString) {
      std::string& text = options.metadata[name];
      for (const std::string& one : value.strings) text += (text.empty() ? "" : ", ") + one;
      continue;
    }
    if (name == kStep && value.type == ElementType::kInt64 && value.shape.empty()) {
      ASSIGN_OR_RETURN(const int64_t step, checkpoint.ReadInt64(name));
      options.metadata[kStep] = std::to_string(step);
      continue;
    }
    values.push_back(std::move(value));
  }
  std::vector<TensorView> views;
  for (const TensorValue& value : values) views.push_back(value.View());
  const std::string file = SafetensorsPath(path);
  RETURN_IF_ERROR(files.MakeDirs(DirName(file)));
  return WriteSafetensors(files, file, views, options);
}

}  // namespace taas
