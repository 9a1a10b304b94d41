#include "bench/gpu/training.h"

#include <algorithm>
#include <span>
#include <utility>

#include "operator/base/status.h"
#include "trainer/model/data_shape.h"

namespace taas::bench {
namespace {

// They come again and again: as many as make it unlikely that a cache has the next one.
constexpr int kBatches = 4;

// Numbers that all come equally often, and fast: a batch of images is some ten megabytes.
class Draws {
 public:
  uint32_t Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  template <typename T>
  void Whole(std::vector<T>* values, size_t count, int64_t bound) {
    values->resize(count);
    for (T& value : *values) value = static_cast<T>(Next() % static_cast<uint64_t>(bound));
  }
  // From -1 to 1.
  void Floats(std::vector<float>* values, size_t count) {
    values->resize(count);
    for (float& value : *values) value = static_cast<float>(Next()) / (1 << 23) - 1;
  }

 private:
  uint32_t state_ = 1;
};

// Below which an id is, of features that are ids.
int64_t CategoriesOf(const DataShape& data) {
  for (const ColumnShape& column : data.columns) {
    if (column.categories > 0) return column.categories;
  }
  return data.vocabulary;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Training>> Training::Make(const Runtime& runtime, const Row& row,
                                                         int threads) {
  ASSIGN_OR_RETURN(const ModelSpec spec, ParseModel(row.model, row.data));
  ASSIGN_OR_RETURN(Model model, BuildModel(spec));
  ASSIGN_OR_RETURN(auto optimizer, Optimizer::Parse(row.optimizer));
  SessionOptions options{.batch = row.batch, .loss = model.loss, .threads = threads};
  options.products = row.precision;
  ASSIGN_OR_RETURN(auto session, Session::Compile(runtime, model.graph, options));
  RETURN_IF_ERROR(session->InitializeVariables(/*seed=*/1));
  std::unique_ptr<Training> training(
      new Training(std::move(model), std::move(optimizer), std::move(session)));
  ASSIGN_OR_RETURN(training->update_,
                   ModelUpdate::Make(*training->optimizer_, *training->session_));
  training->MakeBatches(row);
  return training;
}

void Training::MakeBatches(const Row& row) {
  const BatchRows rows = InputsOf(model_, *session_);
  const int64_t classes = model_.of_tokens ? row.data.vocabulary : row.data.classes;
  Draws draws;
  batches_.resize(kBatches);
  for (Batch& batch : batches_) {
    draws.Floats(&batch.features, rows.features.size());
    draws.Floats(&batch.targets, rows.targets.size());
    draws.Whole(&batch.pixels, rows.pixels.size(), 256);
    draws.Whole(&batch.ids, rows.ids.size(), CategoriesOf(row.data));
    draws.Whole(&batch.labels, rows.labels.size(), classes);
  }
}

absl::Status Training::Step() {
  const BatchRows rows = InputsOf(model_, *session_);
  const Batch& batch = batches_[static_cast<size_t>(step_ % kBatches)];
  std::ranges::copy(batch.features, rows.features.begin());
  std::ranges::copy(batch.targets, rows.targets.begin());
  std::ranges::copy(batch.pixels, rows.pixels.begin());
  std::ranges::copy(batch.ids, rows.ids.begin());
  std::ranges::copy(batch.labels, rows.labels.begin());
  session_->SetStep(step_);
  update_->Prepare(++step_);
  RETURN_IF_ERROR(session_->LaunchStep());
  for (++under_way_; under_way_ > session_->steps_ahead(); --under_way_) {
    RETURN_IF_ERROR(session_->AwaitStep());
  }
  return absl::OkStatus();
}

absl::Status Training::Finish() {
  for (; under_way_ > 0; --under_way_) RETURN_IF_ERROR(session_->AwaitStep());
  return absl::OkStatus();
}

size_t Training::parameters() const {
  size_t count = 0;
  for (const VariableInfo& variable : session_->variables()) {
    if (variable.trainable) count += variable.count;
  }
  return count;
}

absl::StatusOr<Training::Values> Training::Variables() const {
  Values values;
  for (size_t i = 0; i < session_->variables().size(); ++i) {
    values.emplace_back(session_->variables()[i].count);
    RETURN_IF_ERROR(session_->variable(i).Read(std::span<float>(values.back())));
  }
  return values;
}

absl::StatusOr<Training::Values> Training::Gradients() const {
  Values values;
  for (size_t i = 0; i < session_->variables().size(); ++i) {
    if (!session_->variables()[i].trainable) continue;
    values.emplace_back(session_->variables()[i].count);
    RETURN_IF_ERROR(session_->gradient(i).Read(std::span<float>(values.back())));
  }
  return values;
}

absl::Status Training::SetVariables(const Values& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    RETURN_IF_ERROR(session_->variable(i).Write(std::span<const float>(values[i])));
  }
  return absl::OkStatus();
}

}  // namespace taas::bench
