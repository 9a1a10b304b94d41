// Makes gradients smaller before they are applied, so that one bad batch does not throw a model
// off.
//
// The rules are TensorFlow's, over all trainable variables of a process together:
//
//   value       each element is brought into [-value, value]  (clip_by_value)
//   globalNorm  all are multiplied by norm / max(norm, √Σ g²)  (clip_by_global_norm; Pascanu et
//               al. 2013); a gradient that is not finite makes all of them NaN
//
// NaN stays NaN in both: a model that diverged must be seen.
//
// Ownership: value type. Threads: const methods are safe from any thread on different gradients.
// Errors: Parse returns InvalidArgument naming the field.
//
//   ASSIGN_OR_RETURN(const GradientClip clip, GradientClip::Parse(R"({"globalNorm":5})"));
//   clip.Apply(gradients);

#ifndef TRAINER_OPTIMIZER_GRADIENT_CLIP_H_
#define TRAINER_OPTIMIZER_GRADIENT_CLIP_H_

#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

class GradientClip {
 public:
  // Changes nothing.
  GradientClip() = default;
  GradientClip(bool by_norm, float limit)
      : kind_(by_norm ? Kind::kGlobalNorm : Kind::kValue), limit_(limit) {}
  // `json` is the object `spec.trainer.optimizer.clip`; "" is none.
  static absl::StatusOr<GradientClip> Parse(std::string_view json);

  bool clips() const { return kind_ != Kind::kNone; }
  bool by_norm() const { return kind_ == Kind::kGlobalNorm; }
  float limit() const { return limit_; }
  // `gradients`: one span per variable, or those parts of them that may not be zero
  // (gradient_rows.h), changed in place. Their global norm is that before.
  void Apply(std::span<const std::span<float>> gradients) const;

 private:
  enum class Kind { kNone, kValue, kGlobalNorm };

  Kind kind_ = Kind::kNone;
  float limit_ = 0;
};

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_GRADIENT_CLIP_H_
