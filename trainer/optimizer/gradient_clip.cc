#include "trainer/optimizer/gradient_clip.h"

#include <cmath>
#include <limits>
#include <string>

#include "third_party/json.h"
#include "trainer/loops/loops.h"

namespace taas {
namespace {

// Above this nothing is meant to be clipped.
constexpr double kLimitMax = 1e6;

void ClipByGlobalNorm(std::span<const std::span<float>> gradients, float limit) {
  const Loops& loops = BestLoops();
  double squares = 0;
  for (const std::span<float> gradient : gradients) {
    squares += double{loops.sum_squares(gradient.data(), std::ssize(gradient))};
  }
  if (std::sqrt(squares) <= double{limit}) return;  // Never of NaN.
  const float factor = std::isfinite(squares)
                           ? static_cast<float>(double{limit} / std::sqrt(squares))
                           : std::numeric_limits<float>::quiet_NaN();
  for (const std::span<float> gradient : gradients) {
    loops.scale(gradient.data(), factor, gradient.data(), std::ssize(gradient));
  }
}

}  // namespace

absl::StatusOr<GradientClip> GradientClip::Parse(std::string_view json) {
  GradientClip clip;
  if (json.empty()) return clip;
  const auto object =
      nlohmann::json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  const bool value = object.is_object() && object.contains("value");
  if (!object.is_object() || object.size() != 1 || !(value || object.contains("globalNorm"))) {
    return absl::InvalidArgumentError("optimizer.clip: must be an object with value or with "
                                      "globalNorm, is " + std::string(json));
  }
  const char* const name = value ? "value" : "globalNorm";
  const nlohmann::json& limit = object[name];
  if (!limit.is_number() || !(limit.get<double>() > 0) || limit.get<double>() > kLimitMax) {
    return absl::InvalidArgumentError(std::string("optimizer.clip.") + name +
                                      ": must be a number above 0 and at most 1000000, is " +
                                      limit.dump());
  }
  clip.kind_ = value ? Kind::kValue : Kind::kGlobalNorm;
  clip.limit_ = limit.get<float>();
  return clip;
}

void GradientClip::Apply(std::span<const std::span<float>> gradients) const {
  if (kind_ == Kind::kGlobalNorm) ClipByGlobalNorm(gradients, limit_);
  if (kind_ != Kind::kValue) return;
  for (const std::span<float> gradient : gradients) {
    BestLoops().clamp(gradient.data(), limit_, gradient.data(), std::ssize(gradient));
  }
}

}  // namespace taas
