// `optimizer` and `optimizer.clip` of a manifest.

#include <string>
#include <vector>

#include "tools/fuzz/target.h"
#include "trainer/optimizer/gradient_clip.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"name": "sgd", "learningRate": 0.5})",
          R"({"name": "adamw", "learningRate": {"initial": 0.1, "decay": {"type": "cosine",
              "steps": 100, "alpha": 0.1}, "warmup": {"steps": 5}, "scaleByWorkers": true},
              "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "weightDecay": 0.01})",
          R"({"name": "rmsprop", "rho": 0.9, "momentum": 0.5, "centered": true})",
          R"({"name": "ftrl", "learningRatePower": -0.5, "initialAccumulator": 0.1, "l1": 1})",
          R"({"globalNorm": 5})", R"({"value": 0.5})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(taas::FuzzText(data, size));
  (void)taas::GradientClip::Parse(text);
  const auto optimizer = taas::Optimizer::Parse(text, 3);
  if (!optimizer.ok()) return 0;
  for (const int64_t step : {int64_t{0}, int64_t{1}, int64_t{99}, INT64_MAX}) {
    (void)(*optimizer)->learning_rate(step);
  }
  return 0;
}
