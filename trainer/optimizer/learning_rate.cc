#include "trainer/optimizer/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace taas {
namespace {

double Exponential(const LearningRate& rate, double t) {
  const double periods = t / static_cast<double>(rate.decay_steps);
  return rate.start * std::pow(rate.decay_rate, rate.staircase ? std::floor(periods) : periods);
}

double Step(const LearningRate& rate, int64_t t) {
  const auto& boundaries = rate.boundaries;
  const auto passed =
      std::lower_bound(boundaries.begin(), boundaries.end(), t) - boundaries.begin();
  return passed == 0 ? rate.start : rate.rates[static_cast<size_t>(passed - 1)];
}

double Cosine(const LearningRate& rate, double t) {
  const double share = std::min(1.0, t / static_cast<double>(rate.decay_steps));
  const double cosine = (1 + std::cos(std::numbers::pi * share)) / 2;
  return rate.start * ((1 - rate.alpha) * cosine + rate.alpha);
}

double Unscaled(const LearningRate& rate, int64_t t) {
  if (rate.decay == DecayType::kStep) return Step(rate, t);
  if (rate.decay_steps == 0) return rate.start;
  const double steps = static_cast<double>(t);
  return rate.decay == DecayType::kCosine ? Cosine(rate, steps) : Exponential(rate, steps);
}

}  // namespace

double LearningRate::At(int64_t step) const {
  const int64_t t = step - 1;
  if (t < warmup_steps) {
    return scale * start * static_cast<double>(t) / static_cast<double>(warmup_steps);
  }
  return scale * Unscaled(*this, t - warmup_steps);
}

}  // namespace taas
