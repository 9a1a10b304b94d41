#include "trainer/ring/testing/tiny_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "operator/base/check.h"
#include "trainer/kernels/cpu/cpu_device.h"

namespace taas::sim {
namespace {

constexpr size_t kTrained = 10, kMoments = 3;
constexpr double kDecay = 0.5;
constexpr int64_t kModulus = 1 << 20;

// SplitMix64's mixing.
uint64_t Mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// What a batch adds to an element.
int64_t Added(int64_t batch, size_t element) {
  return static_cast<int64_t>(
      Mixed(static_cast<uint64_t>(batch) * 64 + element + 0x9e3779b97f4a7c15) % 1024);
}

float Sum(float value, int64_t added) {
  return static_cast<float>((static_cast<int64_t>(value) + added) % kModulus);
}

float Mix(float slot, int64_t added, int64_t step) {
  return static_cast<float>((static_cast<int64_t>(slot) * 5 + added + step) % kModulus);
}

std::vector<float> Copy(const TensorRef& tensor) {
  const std::span<float> values = tensor.host();
  return {values.begin(), values.end()};
}

}  // namespace

TinyModel::TinyModel() {
  std::vector<VariableInfo> variables(2);
  variables[0] = {.name = "trained", .shape = Shape({kTrained}), .count = kTrained,
                  .bytes = kTrained * sizeof(float)};
  variables[1] = {.name = "moments", .shape = Shape({kMoments}), .count = kMoments,
                  .bytes = kMoments * sizeof(float), .trainable = false, .decay = kDecay};
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
  return {Copy(state_->value(0)), Copy(state_->value(1)), Copy(state_->slot(0, 0))};
}

void TinyModel::Restore(const ModelBits& bits) {
  std::ranges::copy(bits.trained, state_->value(0).host().begin());
  std::ranges::copy(bits.moments, state_->value(1).host().begin());
  std::ranges::copy(bits.slot, state_->slot(0, 0).host().begin());
}

void TinyModel::ComputeGradients(int64_t batch, size_t begin, size_t end) {
  const std::span<float> gradients = state_->gradient(0).host();
  for (size_t i = begin; i < std::min(end, kTrained); ++i) {
    gradients[i] = static_cast<float>(Added(batch, i));
  }
}

void TinyModel::ComputeMoments(int64_t batch) {
  const std::span<float> moments = state_->value(1).host();
  for (size_t i = 0; i < kMoments; ++i) {
    moments[i] = kDecay * moments[i] + (1 - kDecay) * static_cast<float>(Added(batch, i + 32));
  }
}

void TinyModel::Apply(int64_t step, int ranks) {
  const std::span<float> gradients = state_->gradient(0).host();
  const std::span<float> trained = state_->value(0).host();
  const std::span<float> slot = state_->slot(0, 0).host();
  for (size_t i = 0; i < kTrained; ++i) {
    const int64_t sum = std::lround(gradients[i] * static_cast<float>(ranks));
    trained[i] = Sum(trained[i], sum);
    slot[i] = Mix(slot[i], sum, step);
  }
}

ModelBits TinyModel::After(ModelBits bits, int64_t step, const std::vector<int64_t>& batches) {
  for (size_t i = 0; i < kTrained; ++i) {
    int64_t sum = 0;
    for (const int64_t batch : batches) sum += Added(batch, i);
    bits.trained[i] = Sum(bits.trained[i], sum);
    bits.slot[i] = Mix(bits.slot[i], sum, step);
  }
  for (size_t i = 0; i < kMoments; ++i) {
    float sum = 0;
    for (const int64_t batch : batches) {
      sum += (1 - kDecay) * static_cast<float>(Added(batch, i + 32));
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
      next[i] = Sum(next[i], Added(static_cast<int64_t>(below.size()) - 1, i));
    }
    below.push_back(std::move(next));
  }
  return below[static_cast<size_t>(batch)];
}

}  // namespace taas::sim
