#include "trainer/task/model_task.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/data/large_features.h"
#include "trainer/export/export_model.h"
#include "trainer/model/data_shape.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/gradient_clip.h"

namespace taas {
namespace {

// Rows of one forward run of the evaluation: its tensors stay small beside the model.
constexpr int64_t kEvaluationBatch = 250;

// Kept until the next run, which costs nothing: what BatchAccuracy looks at.
std::vector<std::string> Fetches(const Model& model) {
  if (!model.is_classifier()) return {};
  return {model.logits};
}

// What the data has must be what the model learns.
absl::Status CheckTask(const Model& model, const Dataset& train, const std::string& name) {
  if (model.of_tokens || model.is_classifier() == (train.classes() > 0)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("model.name: " + name + " needs " +
                                    (model.is_classifier()
                                         ? "labels, the data has targets"
                                         : "targets, the data has labels"));
}

// An example would be several times in one batch, and an epoch less than a step.
absl::Status CheckBatch(int64_t batch_size, int64_t examples) {
  if (batch_size <= examples) return absl::OkStatus();
  return absl::InvalidArgumentError("batchSize: " + std::to_string(batch_size) +
                                    " is more than the " + std::to_string(examples) +
                                    " examples of data.train");
}

Precision ProductsOf(const EngineConfig& engine) {
  for (const Precision precision : {Precision::kTf32, Precision::kBFloat16}) {
    if (engine.precision == NameOf(precision)) return precision;
  }
  return Precision::kFloat32;
}

// A GPU's kernels fill it one by one, and a step of theirs is one program.
int OpsAtOnce(const Runtime& runtime, const EngineConfig& engine) {
  return runtime.type() == "CPU" ? static_cast<int>(engine.inter_op_threads) : 1;
}

// A step in fewer bits is float32's where the device has no such products: worth a line.
void SayWhatIsMissing(const Runtime& runtime, const EngineConfig& engine) {
  if (engine.inter_op_threads != OpsAtOnce(runtime, engine)) {
    Log(LogLevel::kWarning, "engine.interOpThreads: a GPU computes one op after the other");
  }
  const std::string_view missing = runtime.devices.front()->MissingFor(ProductsOf(engine));
  if (missing.empty()) return;
  Log(LogLevel::kWarning, "engine.precision " + engine.precision + ": " + std::string(missing) +
                              "; products are computed in float32 here, as fast as without it");
}

void SayWhatIsLarge(const Dataset& train) {
  const std::string advice = AdviceOnLargeFeatures(train);
  if (advice.empty()) return;
  Log(LogLevel::kWarning, "features are far from 1, where models begin: " + advice +
                              " (spec.trainer.data.columns)");
}

// What sessions for training and for evaluation have in common.
SessionOptions EngineOptions(const Runtime& runtime, const Model& model,
                             const TrainerConfig& config, const ModelTask::Process& process) {
  return {.batch = config.batch_size,
          .loss = model.loss,
          .seed = config.seed,
          .threads = static_cast<int>(config.engine.intra_op_threads),
          .deterministic = config.engine.deterministic,
          .inter_op_threads = OpsAtOnce(runtime, config.engine),
          .products = ProductsOf(config.engine),
          .job = process.job,
          .task = process.task,
          .soft_placement = config.engine.soft_placement};
}

struct LoadedModel {
  DataSets data;
  Model model;
  Model inference;
  Model served;
};

// Whether the examples of data.test say how many classes there are as well as those of data.train
// would.
bool TestSaysAll(const nlohmann::json& data) {
  const std::string format = data.value("format", "idx");
  return data.contains("test") && (data.contains("classes") || format == "cifar10" ||
                                   format == "cifar100" || format == "text");
}

// For one who only evaluates. Where the training set has to be read, it stays in memory no longer
// than that takes.
absl::StatusOr<DataSets> LoadTestData(FileSystem& files, nlohmann::json spec,
                                      const LoadOptions& options) {
  if (!TestSaysAll(spec)) return LoadData(files, spec, options);
  spec["train"] = spec["test"];
  for (const char* field : {"test", "streaming", "augment"}) spec.erase(field);
  return LoadData(files, spec, options);
}

// What is left to evaluate, once the training set has said what it is like.
void LetTrainingSetGo(bool test_was_read_alone, DataSets* data) {
  Dataset train = std::move(data->train);
  data->stream = nullptr;
  if (test_was_read_alone) data->test = std::move(train);
}

absl::StatusOr<LoadedModel> LoadModel(FileSystem& files, const TrainerConfig& config,
                                      bool trains) {
  // The configuration was parsed from JSON, so this is JSON.
  const auto json = nlohmann::json::parse(config.data);
  const LoadOptions options{.seed = config.seed, .ids = FeaturesAreIds(config.model)};
  ASSIGN_OR_RETURN(DataSets data,
                   trains ? LoadData(files, json, options) : LoadTestData(files, json, options));
  DataShape shape = ShapeOf(data.train);
  shape.augment = data.augment;
  ASSIGN_OR_RETURN(ModelSpec spec, ParseModel(config.model, shape));
  spec.l1 = config.l1;
  spec.l2 = config.l2;
  ASSIGN_OR_RETURN(Model model, BuildModel(spec));
  RETURN_IF_ERROR(CheckTask(model, data.train, spec.name));
  // The examples of data.test may be numbers where those of data.train are bytes.
  spec.data.pixels = ShapeOf(data.test ? *data.test : data.train).pixels;
  ASSIGN_OR_RETURN(Model inference, BuildModel(spec, GraphMode::kInference));
  spec.data.pixels.reset();
  ASSIGN_OR_RETURN(Model served, BuildModel(spec, GraphMode::kInference));
  if (trains) {
    RETURN_IF_ERROR(CheckBatch(config.batch_size, data.train_examples()));
  } else {
    LetTrainingSetGo(TestSaysAll(json), &data);
  }
  return LoadedModel{std::move(data), std::move(model), std::move(inference), std::move(served)};
}

// Whether batches are made ahead in memory from which the device copies them. With towers each
// fills its own inputs.
bool LendsBatches(const Runtime& runtime, const DataSets& data, const TrainerConfig& config,
                  const ModelTask::Process& process) {
  return process.trains && config.towers == 1 && !runtime.devices.front()->host_sees_memory() &&
         TrainInput::AheadOf(data) > 0;
}

absl::StatusOr<std::unique_ptr<Towers>> CompileTowers(const Runtime& runtime,
                                                      const LoadedModel& loaded,
                                                      const TrainerConfig& config,
                                                      const ModelTask::Process& process) {
  SessionOptions options = EngineOptions(runtime, loaded.model, config, process);
  if (!process.trains) {
    // Of the variables alone.
    options.batch = 1;
    options.loss = "";
    options.trainable = false;
    return Towers::Compile(runtime, loaded.inference.graph, options, 1);
  }
  options.fetches = Fetches(loaded.model);
  options.loss_scale = static_cast<float>(config.loss_scale);
  options.trace = process.trace;
  options.binds_inputs = LendsBatches(runtime, loaded.data, config, process);
  const int count = static_cast<int>(config.towers);
  if (count == 1) options.gradient_memory = process.gradient_memory;
  return Towers::Compile(runtime, loaded.model.graph, options, count);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelTask>> ModelTask::Make(const Runtime& runtime,
                                                           FileSystem& files,
                                                           const TrainerConfig& config,
                                                           const Process& process) {
  ASSIGN_OR_RETURN(LoadedModel loaded, LoadModel(files, config, process.trains));
  auto& [data, model, inference, served] = loaded;
  std::shared_ptr<const FeatureColumns> columns;
  if (!config.export_format.empty()) {
    ASSIGN_OR_RETURN(const ExportFormat format, ParseExportFormat(config.export_format));
    RETURN_IF_ERROR(CheckExport(served, format)).With("spec.trainer.export.format");
    ASSIGN_OR_RETURN(columns, ColumnsOf(nlohmann::json::parse(config.data)));
  }
  SayWhatIsMissing(runtime, config.engine);
  if (process.trains) SayWhatIsLarge(data.train);
  SessionOptions common = EngineOptions(runtime, model, config, process);
  ASSIGN_OR_RETURN(auto towers, CompileTowers(runtime, loaded, config, process));
  PinnedBatches batches;
  if (LendsBatches(runtime, data, config, process)) {
    const auto count = static_cast<size_t>(TrainInput::AheadOf(data)) + TrainInput::kLentMax;
    ASSIGN_OR_RETURN(batches,
                     PinnedBatches::Make(*runtime.devices.front(),
                                         TrainInput::SizesOf(data, config.batch_size), count));
  }
  std::vector<std::unique_ptr<GradientWork>> work;
  ASSIGN_OR_RETURN(const GradientClip clip, GradientClip::Parse(config.clip));
  for (int copy = 0; copy < towers->copies() && process.trains; ++copy) {
    ASSIGN_OR_RETURN(auto made,
                     GradientWork::Make(towers->session(copy), clip, config.loss_scale));
    work.push_back(std::move(made));
  }
  return std::unique_ptr<ModelTask>(new ModelTask(
      {.runtime = runtime,
       .files = files,
       .export_format = config.export_format,
       .export_dir = config.export_dir,
       .columns = std::move(columns),
       .data = std::move(data),
       .model = std::make_unique<const Model>(std::move(model)),
       .inference = std::make_unique<const Model>(std::move(inference)),
       .served = std::make_unique<const Model>(std::move(served)),
       .towers = std::move(towers),
       .input = {.seed = config.seed,
                 .batch_size = config.batch_size,
                 .towers = config.towers,
                 .memory = batches.rows()},
       .batches = std::move(batches),
       .work = std::move(work),
       .evaluation = std::move(common),
       .process = process}));
}

absl::StatusOr<std::unique_ptr<Session>> ModelTask::CompileModel(const Runtime& runtime,
                                                                 FileSystem& files,
                                                                 const TrainerConfig& config,
                                                                 const Process& process,
                                                                 bool training) {
  ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(files, config, /*trains=*/true));
  SessionOptions options = EngineOptions(runtime, loaded.model, config, process);
  options.fetches = Fetches(loaded.model);
  options.trainable = training;
  return Session::Compile(runtime, loaded.model.graph, options);
}

ModelTask::ModelTask(Parts parts)
    : runtime_(std::move(parts.runtime)),
      files_(parts.files),
      export_format_(std::move(parts.export_format)),
      export_dir_(std::move(parts.export_dir)),
      columns_(std::move(parts.columns)),
      data_(std::move(parts.data)),
      model_(std::move(parts.model)),
      inference_(std::move(parts.inference)),
      served_(std::move(parts.served)),
      batches_(std::move(parts.batches)),
      towers_(std::move(parts.towers)),
      examples_(parts.process.trains ? data_.train_examples()
                                     : data_.test ? data_.test->examples() : 0),
      process_(std::move(parts.process)),
      work_(std::move(parts.work)),
      evaluation_(std::move(parts.evaluation)) {
  if (!process_.trains) return;
  lent_.reserve(TrainInput::kLentMax);
  input_.emplace(data_, parts.input);
  // Where each tower has its model, in its runs, behind the mean; else on the mean of all.
  for (size_t i = 0; i < work_.size() && makes_steps(); ++i) {
    if (!work_[i]->works()) continue;
    towers_->session(static_cast<int>(i)).Append(RunKind::kTrain, *work_[i]);
  }
}

ModelTask::~ModelTask() = default;

absl::Status ModelTask::ReadOutputs(Session& session, Outputs* outputs) const {
  const bool classifies = model_->is_classifier();
  const std::string& name = classifies ? model_->logits : model_->predictions;
  ASSIGN_OR_RETURN(outputs->values, OnHost(session.output(name), &outputs->room));
  if (classifies) outputs->labels = session.Int32Input(model_->labels);
  return absl::OkStatus();
}

absl::Status ModelTask::FillTower(int tower, int64_t batch) {
  Session& session = towers_->session(tower);
  // What ops draw at random is the batch's, whoever computes it.
  session.SetStep(batch);
  const auto fill = [&] {
    return input_->lends() ? BindBatch(batch) : input_->Fill(batch, InputsOf(*model_, session));
  };
  const absl::Status filled = fill();
  return filled.ok() ? filled : process_.read_again(fill);
}

absl::Status ModelTask::BindBatch(int64_t batch) {
  // Beside those of steps that may be under way none is needed: a step was awaited before another
  // was launched behind the next.
  for (; lent_.size() > session().steps_ahead(); lent_.erase(lent_.begin())) {
    input_->GiveBack(lent_.front());
  }
  ASSIGN_OR_RETURN(const BatchPrefetch::Lent lent, input_->Lend(batch));
  lent_.push_back(lent);
  BindInputs(*model_, lent.rows, session());
  return absl::OkStatus();
}

absl::Status ModelTask::FillBatch(int64_t batch) { return FillTower(0, batch); }

absl::Status ModelTask::FillBatches(std::span<const int64_t> batches) {
  return towers_->FillAll([&](int tower, Session&) {
    return FillTower(tower, batches[static_cast<size_t>(tower)]);
  });
}

std::vector<Session*> ModelTask::copies() {
  std::vector<Session*> copies;
  for (int i = 0; i < towers_->copies(); ++i) copies.push_back(&towers_->session(i));
  return copies;
}

absl::StatusOr<float> ModelTask::ComputeGradients(std::span<const int64_t> batches) {
  RETURN_IF_ERROR(towers_->Run([&](int tower, Session&) {
    return FillTower(tower, batches[static_cast<size_t>(tower)]);
  }));
  if (!makes_steps()) {
    RETURN_IF_ERROR(work_[0]->Run());
  }
  process_.after_step();
  return towers_->loss();
}

absl::Status ModelTask::LaunchStep() { return towers_->LaunchStep(); }

absl::StatusOr<float> ModelTask::FinishStep() {
  RETURN_IF_ERROR(towers_->AwaitStep());
  process_.after_step();
  return towers_->loss();
}

MemoryUses ModelTask::memory_uses() {
  MemoryUses uses;
  for (int tower = 0; tower < towers_->count(); ++tower) {
    uses += towers_->session(tower).memory_uses();
  }
  for (const auto& work : work_) uses[MemoryUse::kWorkspaces] += work->workspace_bytes();
  uses[MemoryUse::kPinned] += batches_.bytes();
  if (makes_steps()) return uses;
  // Lists of the rows of all towers, with their number before them.
  const ModelState& model = session().model();
  for (size_t i = 0; i < model.variables().size(); ++i) {
    if (!session().gradient_rows(i)) continue;
    uses[MemoryUse::kOther] += model.device().alignment() +
                               static_cast<size_t>(model.variables()[i].shape.dim(0)) *
                                   sizeof(int32_t);
  }
  return uses;
}

std::string ModelTask::Placements() {
  std::string text = towers_->first().DeviceMapping();
  for (int tower = 0; tower < towers_->count(); ++tower) {
    std::istringstream lines(towers_->session(tower).Placements());
    for (std::string line; std::getline(lines, line);) {
      const bool again = tower >= towers_->copies() &&
                         line.find(": (Variable): ") != std::string::npos;
      if (!again) text += line + "\n";
    }
  }
  return text;
}

std::string ModelTask::FirstNonFinite() {
  std::string found;
  for (int tower = 0; tower < towers_->count() && found.empty(); ++tower) {
    found = towers_->session(tower).FirstNonFinite();
  }
  return found;
}

std::optional<double> ModelTask::BatchAccuracy() {
  if (!model_->is_classifier()) return std::nullopt;
  size_t rows = 0, right = 0;
  for (int tower = 0; tower < towers_->count(); ++tower) {
    Outputs outputs;
    if (!ReadOutputs(towers_->session(tower), &outputs).ok()) return std::nullopt;
    const auto& [logits, labels, room] = outputs;
    const size_t classes = logits.size() / labels.size();
    for (size_t row = 0; row < labels.size(); ++row) {
      const std::span<const float> values = logits.subspan(row * classes, classes);
      const auto largest = std::max_element(values.begin(), values.end()) - values.begin();
      if (largest == labels[row]) ++right;
    }
    rows += labels.size();
  }
  return static_cast<double>(right) / static_cast<double>(rows);
}

absl::StatusOr<std::optional<Evaluation>> ModelTask::Evaluate(
    const std::vector<TensorRef>& variables) {
  if (!data_.test || data_.test->examples() == 0) return std::optional<Evaluation>();
  const Dataset& set = *data_.test;
  const int64_t examples = set.examples();
  // An example of a model of language is many rows.
  const int64_t batch = std::min(
      examples, model_->of_tokens ? evaluation_.batch : kEvaluationBatch);
  std::vector<std::string> outputs = Fetches(*model_);
  if (outputs.empty()) outputs = {model_->predictions};
  if (evaluator_ == nullptr) {
    SessionOptions options = evaluation_;
    options.batch = batch;
    options.fetches = outputs;
    options.trainable = false;
    ASSIGN_OR_RETURN(evaluator_, Session::Compile(runtime_, inference_->graph, options));
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    RETURN_IF_ERROR(evaluator_->UseVariable(i, variables[i]));
  }
  Sums sums;
  std::string overflow;  // Where the loss became no number.
  std::vector<int64_t> indices(static_cast<size_t>(batch));
  for (int64_t first = 0; first < examples; first += batch) {
    const int64_t count = std::min(batch, examples - first);
    // A last batch that is not full is filled with a row that is not counted.
    for (int64_t i = 0; i < batch; ++i) {
      indices[static_cast<size_t>(i)] = i < count ? first + i : 0;
    }
    GatherRows(set, indices, InputsOf(*inference_, *evaluator_));
    RETURN_IF_ERROR(evaluator_->Run(RunKind::kForward));
    RETURN_IF_ERROR(
        AddExamples(*evaluator_, indices.size(), static_cast<size_t>(count), &sums));
    if (!std::isfinite(sums.loss) && overflow.empty()) {
      overflow = "from example " + std::to_string(first) + " of data.test on; first in " +
                 evaluator_->FirstNonFinite();
    }
  }
  if (!overflow.empty()) {
    Log(LogLevel::kWarning, "the evaluated loss is no number", {{"where", overflow}});
  }
  const double rows = static_cast<double>(sums.rows);
  Evaluation evaluation{.loss = sums.loss / rows, .examples = examples};
  if (model_->is_classifier()) evaluation.accuracy = static_cast<double>(sums.right) / rows;
  const double perplexity = std::exp(evaluation.loss);
  if (model_->of_tokens && std::isfinite(perplexity)) evaluation.perplexity = perplexity;
  return std::optional<Evaluation>(evaluation);
}

absl::Status ModelTask::Export(int64_t step, const std::vector<TensorRef>& variables) {
  if (export_format_.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ExportFormat format, ParseExportFormat(export_format_));
  std::vector<std::vector<float>> rooms(variables.size());
  std::vector<std::span<const float>> values(variables.size());
  for (size_t i = 0; i < variables.size(); ++i) {
    ASSIGN_OR_RETURN(values[i], OnHost(variables[i], &rooms[i]));
  }
  RETURN_IF_ERROR(ExportModel(files_, export_dir_,
                              {.model = served_.get(),
                               .values = std::move(values),
                               .step = step,
                               .format = format,
                               .columns = columns_.get()}))
      .With("spec.trainer.export");
  Log(LogLevel::kInfo, "model exported", {{"format", export_format_}, {"dir", export_dir_}});
  return absl::OkStatus();
}

absl::Status ModelTask::AddExamples(Session& session, size_t examples, size_t count,
                                    Sums* sums) const {
  Outputs outputs;
  RETURN_IF_ERROR(ReadOutputs(session, &outputs));
  if (!model_->is_classifier()) {
    const std::span<const float> predictions = outputs.values;
    const std::span<const float> targets = session.FloatInput(model_->targets);
    const size_t width = predictions.size() / examples;
    double sum = 0;
    for (size_t i = 0; i < count * width; ++i) {
      const double difference = predictions[i] - targets[i];
      sum += difference * difference;
    }
    sums->loss += sum / static_cast<double>(width);
    sums->rows += static_cast<int64_t>(count);
    return absl::OkStatus();
  }
  const auto& [logits, labels, room] = outputs;
  const size_t classes = logits.size() / labels.size();
  const size_t rows = count * (labels.size() / examples);
  for (size_t row = 0; row < rows; ++row) {
    const std::span<const float> values = logits.subspan(row * classes, classes);
    const size_t label = static_cast<size_t>(labels[row]);
    const auto largest = std::max_element(values.begin(), values.end());
    double sum = 0;
    for (const float value : values) sum += std::exp(static_cast<double>(value) - *largest);
    sums->loss += std::log(sum) + *largest - values[label];
    if (static_cast<size_t>(largest - values.begin()) == label) ++sums->right;
  }
  sums->rows += static_cast<int64_t>(rows);
  return absl::OkStatus();
}

}  // namespace taas
