#include "trainer/optimizer/optimizer.h"

#include <cmath>

#include "nlohmann/json.hpp"
#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/kernels/cpu/loops.h"

namespace taas {
namespace {

// w - learning rate · gradient.
class GradientDescent : public Optimizer {
 public:
  explicit GradientDescent(float learning_rate) : learning_rate_(learning_rate) {}

  std::string_view name() const override { return "sgd"; }
  const std::vector<std::string>& slots() const override { return slots_; }

  void Apply(const ApplyArgs& args) const override {
    CHECK(args.gradient.size() == args.in.size() && args.in.size() == args.out.size())
        << "apply sgd: " << args.gradient.size() << " gradients, " << args.in.size() << " in, "
        << args.out.size() << " out";
    BestLoops().add_scaled(args.in.data(), -learning_rate_, args.gradient.data(), args.out.data(),
                           static_cast<int64_t>(args.in.size()));
  }

 private:
  const float learning_rate_;
  const std::vector<std::string> slots_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> Optimizer::Make(std::string_view name,
                                                           double learning_rate) {
  if (name != "sgd") {
    return absl::InvalidArgumentError("optimizer.name: there is no optimizer \"" +
                                      std::string(name) + "\"; known: sgd");
  }
  if (!std::isfinite(learning_rate) || learning_rate <= 0) {
    return absl::InvalidArgumentError("optimizer.learningRate: must be above 0, is " +
                                      std::to_string(learning_rate));
  }
  return std::make_unique<GradientDescent>(static_cast<float>(learning_rate));
}

absl::StatusOr<std::unique_ptr<Optimizer>> Optimizer::Parse(std::string_view json) {
  const nlohmann::json value =
      nlohmann::json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) {
    return absl::InvalidArgumentError("optimizer: must be a JSON object, is " + std::string(json));
  }
  for (const auto& [key, ignored] : value.items()) {
    if (key == "name" || key == "learningRate") continue;
    return absl::InvalidArgumentError("optimizer." + key + ": unknown field");
  }
  const auto name = value.find("name");
  if (name == value.end() || !name->is_string()) {
    return absl::InvalidArgumentError("optimizer.name: must be a string; known: sgd");
  }
  const auto rate = value.find("learningRate");
  if (rate == value.end() || !rate->is_number()) {
    return absl::InvalidArgumentError("optimizer.learningRate: must be a number above 0");
  }
  return Make(name->get<std::string>(), rate->get<double>());
}

}  // namespace taas
