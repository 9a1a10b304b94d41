#include "trainer/cmd/use_commands.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/closest_name.h"
#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "operator/base/status.h"
#include "operator/base/terminal_text.h"
#include "third_party/json.h"
#include "trainer/cmd/flags.h"
#include "trainer/cmd/generate_command.h"
#include "trainer/data/load_data.h"
#include "trainer/export/export_model.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/task/model_task.h"
#include "trainer/use/find_model.h"
#include "trainer/use/predict.h"
#include "trainer/use/test_data.h"
#include "trainer/use/trained_model.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr int kFailed = 1;

struct UseFlags {
  std::string checkpoint, format, to, input, labels;
  std::string output = "text";
  bool bfloat16 = false;
  GenerateFlags generate;
  Flags flags;
};

bool NamesConfig(const UseFlags& command, const GetEnv& env) {
  const Flags& flags = command.flags;
  return !flags.config.empty() || flags.model || !flags.hidden_units.empty() ||
         env("TAAS_TRAINER").has_value();
}

// The configuration that `command` names, or what others left beside the model; without either,
// nothing. Whether its data will be read decides what it must say of a manifest's volumes.
absl::StatusOr<std::optional<TrainerConfig>> ReadModelConfig(const UseFlags& command,
                                                             const GetEnv& env, FileSystem& files,
                                                             bool needs_data) {
  Json json;
  if (NamesConfig(command, env)) {
    ASSIGN_OR_RETURN(const std::string text,
                     TrainerJson(command.flags, env, files,
                                 {.data = needs_data,
                                  .checkpoint = command.checkpoint.empty(),
                                  .others = false}));
    json = Json::parse(text);
  } else {
    ASSIGN_OR_RETURN(const auto model, ModelBeside(files, command.checkpoint));
    if (!model) return std::optional<TrainerConfig>();
    json["model"] = Json::parse(*model);
    // What others publish here are models of texts; their context is seen from the weights.
    json["data"] = {{"format", "text"}};
  }
  // A checkpoint may say all that is to be known of the data.
  if (!json.contains("data")) json["data"] = Json::object();
  ASSIGN_OR_RETURN(TrainerConfig config, ParseTrainerConfig(json.dump()));
  return std::optional<TrainerConfig>(std::move(config));
}

// Of a model that others left without a configuration.
std::string DataOf(const TrainedModel& trained) {
  return Json{{"format", "text"}, {"text", {{"context", trained.shape.features}}}}.dump();
}

struct Loaded {
  TrainerConfig config;
  TrainedModel trained;
};

absl::StatusOr<Loaded> Load(const UseFlags& command, const GetEnv& env, FileSystem& files,
                            bool needs_data) {
  // Where the model is comes first: of data that nobody will read nothing is to be said.
  ASSIGN_OR_RETURN(auto config, ReadModelConfig(command, env, files, /*needs_data=*/false));
  if (!config) {
    RETURN_IF_ERROR(CheckThereIsAModel(files, command.checkpoint));
    return absl::InvalidArgumentError(
        "the checkpoint has no graph: say which model it is of, with --config FILE (spec.trainer, "
        "or a manifest of the job), TAAS_TRAINER, or --model mlp --hidden_units 100");
  }
  const std::string path =
      command.checkpoint.empty() ? config->checkpoint_dir : command.checkpoint;
  if (path.empty()) {
    return absl::InvalidArgumentError(
        "--checkpoint is missing, and the configuration has no checkpoint.dir: say where the model "
        "is");
  }
  RETURN_IF_ERROR(CheckThereIsAModel(files, path));
  if (needs_data) {
    ASSIGN_OR_RETURN(config, ReadModelConfig(command, env, files, needs_data));
  }
  auto trained = LoadTrainedModel(files, *config, path);
  if (trained.ok()) {
    if (!NamesConfig(command, env)) config->data = DataOf(*trained);
    return Loaded{*std::move(config), *std::move(trained)};
  }
  // The model may follow from data in a volume that was not given.
  if (!needs_data) {
    RETURN_IF_ERROR(ReadModelConfig(command, env, files, /*needs_data=*/true).status());
  }
  return trained.status();
}

absl::Status Export(const UseFlags& command, const GetEnv& env) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const ExportFormat format, ParseExportFormat(command.format));
  ASSIGN_OR_RETURN(const auto config,
                   ReadModelConfig(command, env, files, /*needs_data=*/false));
  if (!config && format == ExportFormat::kSafetensors) {
    RETURN_IF_ERROR(CheckThereIsAModel(files, command.checkpoint));
    ASSIGN_OR_RETURN(const auto checkpoint, OpenCheckpoint(files, command.checkpoint));
    RETURN_IF_ERROR(ConvertCheckpoint(files, *checkpoint, command.to, command.bfloat16));
    std::printf("%s: all tensors of %s\n", SafetensorsPath(command.to).c_str(),
                checkpoint->prefix().c_str());
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Loaded loaded, Load(command, env, files, /*needs_data=*/false));
  const TrainedModel& trained = loaded.trained;
  RETURN_IF_ERROR(ExportModel(files, command.to,
                              {.model = &trained.model,
                               .values = trained.spans(),
                               .step = trained.step,
                               .format = format,
                               .bfloat16 = command.bfloat16,
                               .columns = trained.columns.get()}));
  const bool one_file = format == ExportFormat::kSafetensors;
  std::printf("%s: the model of %s at step %lld\n",
              (one_file ? SafetensorsPath(command.to) : command.to).c_str(),
              trained.source.c_str(), static_cast<long long>(trained.step));
  if (!one_file && trained.columns == nullptr && !trained.model.of_tokens) {
    std::printf("Its input features are the numbers of the training: of images of bytes, bytes / "
                "255\n");
  }
  // As ExportModel writes them.
  if (one_file && trained.model.of_tokens && SafetensorsPath(command.to) == command.to) {
    std::fprintf(stderr,
                 "export: no config.json beside it; for transformers give a directory: --to %s\n",
                 command.to.substr(0, command.to.rfind(".safetensors")).c_str());
  }
  return absl::OkStatus();
}

// A model follows from its data in part: `session` is of that of the configuration.
absl::Status CheckSameModel(const TrainedModel& trained, const Session& session) {
  const Graph& graph = trained.model.graph;
  const std::vector<Value> variables = graph.Variables();
  for (size_t i = 0; i < std::max(variables.size(), session.variables().size()); ++i) {
    const bool both = i < variables.size() && i < session.variables().size();
    const std::string ours = i < variables.size() ? graph.node(variables[i]).name : "nothing";
    if (both && ours == session.variables()[i].name &&
        graph.node(variables[i]).outputs[0].shape == session.variables()[i].shape) {
      continue;
    }
    return absl::InvalidArgumentError(
        "evaluate " + trained.source + ": the data of the configuration makes another model; " +
        ours + " is " +
        (both ? graph.node(variables[i]).outputs[0].shape.ToString() + " there and " +
                    session.variables()[i].shape.ToString() + " with this data"
              : "not in both") +
        ": evaluate it with data like that of its training");
  }
  return absl::OkStatus();
}

absl::Status Evaluate(const UseFlags& command, const GetEnv& env) {
  PosixFileSystem files;
  const bool own_test_set = command.input.empty();
  ASSIGN_OR_RETURN(Loaded loaded, Load(command, env, files, /*needs_data=*/own_test_set));
  auto& [config, trained] = loaded;
  if (!own_test_set) {
    ASSIGN_OR_RETURN(config.data, WithTestFiles(config.data, {command.input, command.labels}));
  }
  // As an evaluator: of most formats the training set is not read.
  ASSIGN_OR_RETURN(const auto task,
                   ModelTask::Make(CpuRuntime(), files, config, {.trains = false}));
  RETURN_IF_ERROR(CheckSameModel(trained, task->session()));
  ASSIGN_OR_RETURN(const std::optional<Evaluation> evaluation,
                   task->Evaluate(TensorsOf(trained.values)));
  if (!evaluation) {
    return absl::InvalidArgumentError("data.test: there are no examples to evaluate with");
  }
  if (command.output == "json") {
    nlohmann::ordered_json json = {{"checkpoint", trained.source},
                                   {"step", trained.step},
                                   {"examples", evaluation->examples},
                                   {"loss", evaluation->loss}};
    if (evaluation->accuracy) json["accuracy"] = *evaluation->accuracy;
    if (evaluation->perplexity) json["perplexity"] = *evaluation->perplexity;
    std::puts(json.dump().c_str());
    return absl::OkStatus();
  }
  std::string measures;
  const auto add = [&](const char* name, std::optional<double> value) {
    if (value) measures += name + std::to_string(*value) + ", ";
  };
  add("accuracy ", evaluation->accuracy);
  add("perplexity ", evaluation->perplexity);
  std::printf("%s: step %lld, %sloss %.6f over %lld examples\n", trained.source.c_str(),
              static_cast<long long>(trained.step), measures.c_str(), evaluation->loss,
              static_cast<long long>(evaluation->examples));
  return absl::OkStatus();
}

// Those of data.test.
absl::StatusOr<Examples> TestExamples(FileSystem& files, const TrainerConfig& config,
                                      int64_t features) {
  ASSIGN_OR_RETURN(const DataSets data,
                   LoadData(files, Json::parse(config.data),
                            {.seed = config.seed, .ids = FeaturesAreIds(config.model)}));
  if (!data.test || data.test->features() != features) {
    return absl::InvalidArgumentError(
        "data.test: there are no examples with " + std::to_string(features) +
        " features to predict; give --input FILE, or - for standard input");
  }
  Examples examples{.count = data.test->examples()};
  const size_t count = static_cast<size_t>(examples.count);
  const size_t ids = static_cast<size_t>(data.test->ids());
  std::vector<int64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  examples.features.resize(count * (static_cast<size_t>(features) - ids));
  examples.ids.resize(count * ids);
  GatherRows(*data.test, all, {.features = examples.features, .ids = examples.ids});
  return examples;
}

absl::Status Predict(const UseFlags& command, const GetEnv& env) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(Loaded loaded,
                   Load(command, env, files, /*needs_data=*/command.input.empty()));
  auto& [config, trained] = loaded;
  ASSIGN_OR_RETURN(const auto predictor, Predictor::Make(CpuRuntime(), trained));
  const ExampleForm form = FormOf(trained);
  const auto print = [](const Prediction& prediction) {
    std::puts(TerminalText(JsonOf(prediction)).c_str());
  };
  if (command.input == "-") {
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    ASSIGN_OR_RETURN(const auto rows, ParseExamples(text, "-", form));
    return predictor->Predict(rows, print);
  }
  ASSIGN_OR_RETURN(const auto rows, command.input.empty()
                                        ? TestExamples(files, config, form.features)
                                        : ReadExamples(files, command.input, form));
  return predictor->Predict(rows, print);
}

absl::Status Generate(const UseFlags& command, const GetEnv& env) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(Loaded loaded, Load(command, env, files, /*needs_data=*/false));
  return PrintTexts(command.generate, files, loaded.trained);
}

struct Verb {
  std::string_view word;
  const char* about;
  absl::Status (*run)(const UseFlags&, const GetEnv&);
};

constexpr Verb kVerbs[] = {
    {"export",
     "Writes a trained model for other programs: as safetensors, or as a SavedModel, which\n"
     "TensorFlow and TensorFlow Serving load. Without a model named, safetensors get all tensors\n"
     "of the checkpoint, those of the optimizer too.",
     Export},
    {"eval",
     "Prints loss and accuracy of a trained model over data.test of its configuration, or over\n"
     "the file of --input; of a model of texts the perplexity, too.", Evaluate},
    {"predict",
     "Prints a line of JSON for each example: {\"class\": 3, \"probabilities\": [...]}, or\n"
     "{\"value\": 1.5} of a regression. Examples are those of data.test, or --input: lines of\n"
     "numbers (as 0.1, 0.2 or [0.1, 0.2] or {\"features\": [0.1, 0.2]}), or of values by name if\n"
     "the data has feature columns ({\"age\": 39, \"job\": \"Sales\"}), or an IDX file of images.",
     Predict},
    {"generate",
     "Prints a text that goes on from another, token by token, of a model that has learned texts.\n"
     "Tokens are bytes. Each costs a pass of the model over all of its context.",
     Generate},
};

const Verb* FindVerb(std::string_view word) {
  for (const Verb& verb : kVerbs) {
    if (verb.word == word) return &verb;
  }
  return nullptr;
}

std::string FormatComplaint(const std::string& text) {
  const absl::Status status = ParseExportFormat(text).status();
  if (status.ok()) return "";
  const std::string meant = DidYouMean(text, {"safetensors", "savedModel"});
  return std::string(status.message()) + (meant.empty() ? "" : " (" + meant + ")");
}

void AddOptions(Command& app, std::string_view word, UseFlags* command) {
  app.AddOption("--checkpoint", &command->checkpoint,
                "Prefix of a checkpoint, a directory (its newest one), or a .safetensors file "
                "(default: checkpoint.dir of --config)");
  if (word == "export") {
    app.AddOption("--format", &command->format, "Format: safetensors or savedModel")
        .Check(FormatComplaint)
        .Required();
    app.AddOption("--to", &command->to,
                  "Directory of the SavedModel; .safetensors file, or a directory for it")
        .Required();
    app.AddFlag("--bfloat16", &command->bfloat16,
                "Write bfloat16, half as large, into safetensors");
  } else if (word == "eval") {
    app.AddOption("--input", &command->input,
                  "File with examples, in the format of the training's data (default: data.test "
                  "of --config)");
    app.AddOption("--labels", &command->labels,
                  "File with the labels of --input, of the formats idx and raw");
    app.AddOption("-o,--output", &command->output, "Format of the output: text or json")
        .OneOf({"text", "json"});
  } else if (word == "generate") {
    AddGenerateOptions(app, &command->generate);
  } else {
    app.AddOption("--input", &command->input,
                  "File with examples, or - for standard input (default: data.test of --config)");
  }
  AddModelFlags(app, &command->flags);
}

// What is no use to begin without; "" where nothing is.
std::string WhatIsMissing(const Verb& verb, const UseFlags& command, const GetEnv& env) {
  if (command.checkpoint.empty() && !NamesConfig(command, env)) {
    return "--checkpoint is required, or a --config with checkpoint.dir";
  }
  return verb.word == "generate" ? WhatIsMissing(command.generate) : "";
}

}  // namespace

int RunUseCommand(int argc, char** argv, const GetEnv& env) {
  const Verb* const verb = FindVerb(argv[0]);
  UseFlags command;
  CommandLine app({.name = "taas-trainer " + std::string(verb->word), .about = verb->about});
  AddOptions(app, verb->word, &command);
  app.OnRun([&] { return WhatIsMissing(*verb, command, env); }, [] {});
  const std::optional<int> ended = app.Parse(argc, argv);
  if (ended.has_value()) return *ended;
  const absl::Status status = verb->run(command, env);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", argv[0], TerminalText(std::string(status.message())).c_str());
  return kFailed;
}

}  // namespace taas
