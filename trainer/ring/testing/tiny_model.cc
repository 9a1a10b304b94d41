#include "trainer/ring/testing/tiny_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>

#include "operator/base/check.h"
#include "trainer/kernels/cpu/cpu_device.h"

namespace taas::sim {
namespace {

constexpr size_t kDense = 10, kMoments = 3;
struct TableSize {
  size_t rows, width;
};
constexpr std::array<TableSize, 2> kTables = {{{8, 2}, {5, 1}}};
// All that is trained.
constexpr size_t kTrained = kDense + 8 * 2 + 5;
// Variables: the dense one, tables, moments.
constexpr size_t kMoved = 1 + kTables.size();
constexpr double kDecay = 0.5;
constexpr int64_t kModulus = 1 << 20;

// SplitMix64's mixing.
uint64_t Mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

uint64_t Draw(int64_t batch, size_t what) {
  return Mixed(static_cast<uint64_t>(batch) * 128 + what + 0x9e3779b97f4a7c15);
}

// A batch looks up none of a table, some of its rows, or most.
bool LooksUp(int64_t batch, size_t table, size_t row) {
  return Draw(batch, 80 + row) % 8 < Draw(batch, 96 + table) % 3 * 3;
}

// What a batch adds to an element of the dense variable, the moments, or to one of a row of a table
// that it looks up.
int64_t Added(int64_t batch, size_t element) {
  return static_cast<int64_t>(Draw(batch, element) % 1024);
}

// The same of each element that is trained: those of tables are behind each other.
int64_t AddedToTrained(int64_t batch, size_t element) {
  size_t begin = kDense;
  for (size_t t = 0; t < kTables.size() && element >= begin; ++t) {
    const auto [rows, width] = kTables[t];
    if (element < begin + rows * width) {
      return LooksUp(batch, t, (element - begin) / width) ? Added(batch, element) : 0;
    }
    begin += rows * width;
  }
  return Added(batch, element);
}

float Sum(float value, int64_t added) {
  return static_cast<float>((static_cast<int64_t>(value) + added) % kModulus);
}

float Mix(float slot, int64_t added, int64_t step) {
  return static_cast<float>((static_cast<int64_t>(slot) * 5 + added + step) % kModulus);
}

void Append(const TensorRef& tensor, std::vector<float>* to) {
  const std::span<float> values = tensor.host();
  to->insert(to->end(), values.begin(), values.end());
}

}  // namespace

TinyModel::TinyModel() : rows_(kTables.size()) {
  std::vector<VariableInfo> variables;
  variables.push_back({.name = "dense", .shape = Shape({kDense}), .count = kDense,
                       .bytes = kDense * sizeof(float)});
  for (const auto [rows, width] : kTables) {
    variables.push_back({.name = "table",
                         .shape = Shape({static_cast<int64_t>(rows), static_cast<int64_t>(width)}),
                         .count = rows * width,
                         .bytes = rows * width * sizeof(float)});
  }
  variables.push_back({.name = "moments", .shape = Shape({kMoments}), .count = kMoments,
                       .bytes = kMoments * sizeof(float), .trainable = false, .decay = kDecay});
  state_ = ModelState::Make(CpuDevice(), variables, ModelState::Options()).value();
  CHECK(state_->AddSlots(std::vector{0.0F}).ok()) << "a slot";
}

void TinyModel::Initialize() {
  Restore({std::vector<float>(kTrained), std::vector<float>(kMoments, 1),
           std::vector<float>(kTrained)});
}

void TinyModel::Scribble() {
  Restore({std::vector<float>(kTrained, 0.25F), std::vector<float>(kMoments, 0.25F),
           std::vector<float>(kTrained, 0.25F)});
}

ModelBits TinyModel::Bits() const {
  ModelBits bits;
  for (size_t i = 0; i < kMoved; ++i) {
    Append(state_->value(i), &bits.trained);
    Append(state_->slot(0, i), &bits.slot);
  }
  Append(state_->value(kMoved), &bits.moments);
  return bits;
}

void TinyModel::Restore(const ModelBits& bits) {
  size_t at = 0;
  for (size_t i = 0; i < kMoved; ++i) {
    const size_t count = state_->variables()[i].count;
    std::copy_n(bits.trained.begin() + static_cast<ptrdiff_t>(at), count,
                state_->value(i).host().begin());
    std::copy_n(bits.slot.begin() + static_cast<ptrdiff_t>(at), count,
                state_->slot(0, i).host().begin());
    at += count;
  }
  std::ranges::copy(bits.moments, state_->value(kMoved).host().begin());
}

size_t TinyModel::dense_elements() const { return state_->at(1); }

std::vector<RowTable> TinyModel::tables() const {
  std::vector<RowTable> tables;
  for (size_t t = 0; t < kTables.size(); ++t) {
    const bool last = t + 1 == kTables.size();
    tables.push_back({.name = "table " + std::to_string(t),
                      .begin = state_->at(1 + t),
                      .end = last ? state_->trained_elements() : state_->at(2 + t),
                      .rows = kTables[t].rows,
                      .width = kTables[t].width});
  }
  return tables;
}

void TinyModel::ComputeGradients(int64_t batch, size_t begin, size_t end) {
  const std::span<float> gradients = state_->gradient(0).host();
  for (size_t i = begin; i < std::min(end, kDense); ++i) {
    gradients[i] = static_cast<float>(Added(batch, i));
  }
}

void TinyModel::ComputeTables(int64_t batch) {
  size_t element = kDense;
  for (size_t t = 0; t < kTables.size(); ++t) {
    const auto [rows, width] = kTables[t];
    const std::span<float> gradient = state_->gradient(1 + t).host();
    for (const int32_t row : rows_[t]) {
      std::ranges::fill(gradient.subspan(static_cast<size_t>(row) * width, width), 0.0F);
    }
    rows_[t].clear();
    for (size_t row = 0; row < rows; ++row) {
      if (LooksUp(batch, t, row)) rows_[t].push_back(static_cast<int32_t>(row));
      for (size_t i = row * width; i < (row + 1) * width; ++i, ++element) {
        if (LooksUp(batch, t, row)) gradient[i] = static_cast<float>(Added(batch, element));
      }
    }
  }
}

std::vector<TableRows::Ids> TinyModel::rows() const { return {rows_.begin(), rows_.end()}; }

void TinyModel::SetRows(const TableRows& tables) {
  for (size_t t = 0; t < kTables.size(); ++t) {
    switch (tables.holds(t)) {
      case TableRows::Holds::kOwn: break;
      case TableRows::Holds::kUnited:
        rows_[t].assign(tables.united(t).begin(), tables.united(t).end());
        break;
      case TableRows::Holds::kAny:
        rows_[t].resize(kTables[t].rows);
        std::iota(rows_[t].begin(), rows_[t].end(), 0);
        break;
    }
  }
}

void TinyModel::ComputeMoments(int64_t batch) {
  const std::span<float> moments = state_->value(kMoved).host();
  for (size_t i = 0; i < kMoments; ++i) {
    const auto added = static_cast<float>(Added(batch, i + kTrained));
    moments[i] = kDecay * moments[i] + (1 - kDecay) * added;
  }
}

void TinyModel::Apply(int64_t step, int ranks) {
  for (size_t v = 0; v < kMoved; ++v) {
    const std::span<float> gradients = state_->gradient(v).host();
    const std::span<float> trained = state_->value(v).host();
    const std::span<float> slot = state_->slot(0, v).host();
    for (size_t i = 0; i < gradients.size(); ++i) {
      const int64_t sum = std::lround(gradients[i] * static_cast<float>(ranks));
      trained[i] = Sum(trained[i], sum);
      slot[i] = Mix(slot[i], sum, step);
    }
  }
}

ModelBits TinyModel::After(ModelBits bits, int64_t step, const std::vector<int64_t>& batches) {
  for (size_t i = 0; i < kTrained; ++i) {
    int64_t sum = 0;
    for (const int64_t batch : batches) sum += AddedToTrained(batch, i);
    bits.trained[i] = Sum(bits.trained[i], sum);
    bits.slot[i] = Mix(bits.slot[i], sum, step);
  }
  for (size_t i = 0; i < kMoments; ++i) {
    float sum = 0;
    for (const int64_t batch : batches) {
      sum += (1 - kDecay) * static_cast<float>(Added(batch, i + kTrained));
    }
    bits.moments[i] =
        static_cast<float>(kDecay) * bits.moments[i] + sum / static_cast<float>(batches.size());
  }
  return bits;
}

std::vector<float> TinyModel::TrainedBelow(int64_t batch) {
  // Grows as it is asked for.
  static std::vector<std::vector<float>> below = {std::vector<float>(kTrained)};
  while (static_cast<int64_t>(below.size()) <= batch) {
    std::vector<float> next = below.back();
    for (size_t i = 0; i < kTrained; ++i) {
      next[i] = Sum(next[i], AddedToTrained(static_cast<int64_t>(below.size()) - 1, i));
    }
    below.push_back(std::move(next));
  }
  return below[static_cast<size_t>(batch)];
}

}  // namespace taas::sim
