#include "trainer/strategy/model_task.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/data/augment.h"
#include "trainer/export/export_model.h"
#include "trainer/kernels/cpu/loops.h"

namespace taas {
namespace {

// Rows of one forward run of the evaluation: its tensors stay small beside the model.
constexpr int64_t kEvaluationBatch = 250;

// Kept until the next run, which costs nothing: what BatchAccuracy looks at.
std::vector<std::string> Fetches(const Model& model) {
  if (!model.is_classifier()) return {};
  return {model.logits};
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelTask>> ModelTask::Make(FileSystem& files,
                                                           const TrainerConfig& config) {
  // The configuration was parsed from JSON, so this is JSON.
  ASSIGN_OR_RETURN(DataSets data, LoadData(files, nlohmann::json::parse(config.data), config.seed));
  const DataShape shape{data.train.features(), data.train.classes(),
                        std::max<int64_t>(1, data.train.target_width())};
  ASSIGN_OR_RETURN(ModelSpec spec, ParseModel(config.model, shape));
  spec.l1 = config.l1;
  spec.l2 = config.l2;
  ASSIGN_OR_RETURN(Model model, BuildModel(spec));
  if (model.is_classifier() != (data.train.classes() > 0)) {
    return absl::InvalidArgumentError(
        "model.name: " + spec.name + " needs " +
        (model.is_classifier() ? "labels, the data has targets" : "targets, the data has labels"));
  }
  GradientWork work{.loss_scale = static_cast<float>(config.loss_scale)};
  ASSIGN_OR_RETURN(work.clip, GradientClip::Parse(config.clip));
  ASSIGN_OR_RETURN(auto towers, Towers::Compile(model.graph,
                                                {.batch = config.batch_size,
                                                 .loss = model.loss,
                                                 .fetches = Fetches(model),
                                                 .loss_scale = work.loss_scale},
                                                static_cast<int>(config.towers)));
  const BatchPlan plan({.seed = config.seed,
                        .examples = data.train.examples(),
                        .batch_size = config.batch_size});
  return std::unique_ptr<ModelTask>(
      new ModelTask(files, config, std::move(data), std::move(model), std::move(towers), plan,
                    work));
}

ModelTask::ModelTask(FileSystem& files, const TrainerConfig& config, DataSets data, Model model,
                     std::unique_ptr<Towers> towers, BatchPlan plan, const GradientWork& work)
    : files_(files),
      export_format_(config.export_format),
      export_dir_(config.export_dir),
      data_(std::move(data)),
      model_(std::move(model)),
      towers_(std::move(towers)),
      plan_(plan),
      work_(work),
      seed_(config.seed),
      indices_(static_cast<size_t>(towers_->count()),
               std::vector<int64_t>(static_cast<size_t>(plan.batch_size()))) {}

void ModelTask::FillInputs(const Dataset& set, std::span<const int64_t> indices,
                           Session& session) const {
  set.GatherFeatures(indices, session.FloatInput(model_.features).data());
  if (model_.is_classifier()) {
    set.GatherLabels(indices, session.Int32Input(model_.labels).data());
  } else {
    set.GatherTargets(indices, session.FloatInput(model_.targets).data());
  }
}

void ModelTask::FillTower(int tower, int64_t batch) {
  std::vector<int64_t>& indices = indices_[static_cast<size_t>(tower)];
  plan_.Indices(batch, indices);
  FillInputs(data_.train, indices, towers_->session(tower));
  if (data_.augment.any()) AugmentBatch(batch, indices, towers_->session(tower));
}

void ModelTask::AugmentBatch(int64_t batch, std::span<const int64_t> indices,
                             Session& session) const {
  const size_t width = static_cast<size_t>(data_.train.features());
  const std::span<float> features = session.FloatInput(model_.features);
  std::vector<float> image(width);
  for (size_t row = 0; row < indices.size(); ++row) {
    const int64_t position = batch * plan_.batch_size() + static_cast<int64_t>(row);
    const uint64_t seed = AugmentSeed(
        {.job = seed_, .epoch = plan_.EpochAt(position), .example = indices[row]});
    const std::span<float> values = features.subspan(row * width, width);
    std::ranges::copy(values, image.begin());
    AugmentImage(data_.train.image(), data_.augment, seed, data_.train.zero(), image, values);
  }
}

absl::Status ModelTask::FillBatch(int64_t batch) {
  FillTower(0, batch);
  return absl::OkStatus();
}

absl::StatusOr<float> ModelTask::ComputeGradients(std::span<const int64_t> batches) {
  RETURN_IF_ERROR(towers_->Run([&](int tower, Session&) {
    FillTower(tower, batches[static_cast<size_t>(tower)]);
    return absl::OkStatus();
  }));
  FinishGradients();
  return towers_->loss();
}

void ModelTask::FinishGradients() {
  if (work_.loss_scale == 1 && !work_.clip.clips()) return;
  std::vector<std::span<float>> gradients;
  for (size_t i = 0; i < session().variables().size(); ++i) {
    if (session().variables()[i].trainable) gradients.push_back(session().gradient(i));
  }
  if (work_.loss_scale != 1) {
    for (const std::span<float> gradient : gradients) {
      BestLoops().scale(gradient.data(), 1 / work_.loss_scale, gradient.data(),
                        std::ssize(gradient));
    }
  }
  work_.clip.Apply(gradients);
}

std::optional<double> ModelTask::BatchAccuracy() {
  if (!model_.is_classifier()) return std::nullopt;
  size_t rows = 0, right = 0;
  for (int tower = 0; tower < towers_->count(); ++tower) {
    Session& session = towers_->session(tower);
    const std::span<const float> logits = session.output(model_.logits);
    const std::span<const int32_t> labels = session.Int32Input(model_.labels);
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
    const std::vector<std::span<float>>& variables) {
  if (!data_.test || data_.test->examples() == 0) return std::optional<Evaluation>();
  const Dataset& set = *data_.test;
  const int64_t examples = set.examples();
  const int64_t batch = std::min(examples, kEvaluationBatch);
  const std::string output = model_.is_classifier() ? model_.logits : model_.predictions;
  if (evaluator_ == nullptr) {
    ASSIGN_OR_RETURN(evaluator_, Session::Compile(model_.graph, {.batch = batch,
                                                                 .loss = model_.loss,
                                                                 .fetches = {output},
                                                                 .trainable = false}));
  }
  for (size_t i = 0; i < variables.size(); ++i) evaluator_->BindVariable(i, variables[i]);
  double loss = 0;
  int64_t right = 0;
  std::vector<int64_t> indices(static_cast<size_t>(batch));
  for (int64_t first = 0; first < examples; first += batch) {
    const int64_t count = std::min(batch, examples - first);
    // A last batch that is not full is filled with a row that is not counted.
    for (int64_t i = 0; i < batch; ++i) {
      indices[static_cast<size_t>(i)] = i < count ? first + i : 0;
    }
    FillInputs(set, indices, *evaluator_);
    RETURN_IF_ERROR(evaluator_->Run(RunKind::kForward));
    AddRows(*evaluator_, set, indices, static_cast<size_t>(count), &loss, &right);
  }
  Evaluation evaluation{.loss = loss / static_cast<double>(examples), .examples = examples};
  if (model_.is_classifier()) {
    evaluation.accuracy = static_cast<double>(right) / static_cast<double>(examples);
  }
  return std::optional<Evaluation>(evaluation);
}

absl::Status ModelTask::Export(int64_t step, const std::vector<std::span<float>>& variables) {
  if (export_format_.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ExportFormat format, ParseExportFormat(export_format_));
  RETURN_IF_ERROR(ExportModel(files_, export_dir_,
                              {.model = &model_,
                               .values = {variables.begin(), variables.end()},
                               .step = step,
                               .format = format}))
      .With("spec.trainer.export");
  Log(LogLevel::kInfo, "model exported", {{"format", export_format_}, {"dir", export_dir_}});
  return absl::OkStatus();
}

void ModelTask::AddRows(Session& session, const Dataset& set, std::span<const int64_t> indices,
                        size_t count, double* loss, int64_t* right) const {
  const std::span<const float> rows =
      session.output(model_.is_classifier() ? model_.logits : model_.predictions);
  const size_t width = rows.size() / indices.size();
  for (size_t row = 0; row < count; ++row) {
    const std::span<const float> values = rows.subspan(row * width, width);
    if (!model_.is_classifier()) {
      const std::span<const float> targets = session.FloatInput(model_.targets);
      double sum = 0;
      for (size_t i = 0; i < width; ++i) {
        const double difference = values[i] - targets[row * width + i];
        sum += difference * difference;
      }
      *loss += sum / static_cast<double>(width);
      continue;
    }
    const size_t label = static_cast<size_t>(set.labels()[static_cast<size_t>(indices[row])]);
    const auto largest = std::max_element(values.begin(), values.end());
    double sum = 0;
    for (const float value : values) sum += std::exp(static_cast<double>(value) - *largest);
    *loss += std::log(sum) + *largest - values[label];
    if (static_cast<size_t>(largest - values.begin()) == label) ++*right;
  }
}

}  // namespace taas
