#include "trainer/graph/initializer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "operator/base/hash.h"
#include "operator/base/random.h"

namespace taas {
namespace {

double Normal(Random* random) {
  const double radius = std::sqrt(-2 * std::log(1 - random->Unit()));
  return radius * std::cos(2 * std::numbers::pi * random->Unit());
}

double TruncatedNormal(Random* random) {
  for (;;) {  // One draw in twenty lies outside.
    const double value = Normal(random);
    if (std::abs(value) <= 2) return value;
  }
}

}  // namespace

void FillInitialValues(const Initializer& initializer, std::string_view name, uint64_t seed,
                       std::span<float> values) {
  SeededRandom random(seed ^ StableHash(name));
  switch (initializer.kind) {
    case Initializer::Kind::kConstant:
      std::ranges::fill(values, static_cast<float>(initializer.a));
      return;
    case Initializer::Kind::kUniform:
      for (float& value : values) {
        value = static_cast<float>(initializer.a +
                                   (initializer.b - initializer.a) * random.Unit());
      }
      return;
    case Initializer::Kind::kTruncatedNormal:
      for (float& value : values) {
        value = static_cast<float>(initializer.a + initializer.b * TruncatedNormal(&random));
      }
      return;
  }
}

}  // namespace taas
