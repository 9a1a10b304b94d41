// Prints what optimizers and clipping do, for a test that asks TensorFlow the same.
//
// Standard input is a JSON list of cases: {"optimizer": {...}, "start": [w...], "gradients":
// [[g...]...]}, one update per gradient, each clipped first if there is a "clip"; or without an
// optimizer {"clip": {...}, "gradients": [[...]...]}, one gradient per variable. Standard output is
// the list of results: {"rates", "values", "slots"}, each by step, or {"clipped"}.

#include <cstdio>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "third_party/json.h"
#include "trainer/optimizer/gradient_clip.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

using Json = nlohmann::json;

GradientClip ClipOf(const Json& test) {
  const auto clip = GradientClip::Parse(test.contains("clip") ? test["clip"].dump() : "");
  CHECK(clip.ok()) << clip.status().ToString();
  return *clip;
}

Json RunSteps(const Json& test) {
  const GradientClip clip = ClipOf(test);
  const auto made =
      Optimizer::Parse(test["optimizer"].dump(), test.value("workers", int64_t{1}));
  CHECK(made.ok()) << made.status().ToString();
  const Optimizer& optimizer = **made;
  auto w = test["start"].get<std::vector<float>>();
  std::vector<std::vector<float>> slots;
  for (size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
    slots.emplace_back(w.size(), optimizer.slot_start(slot));
  }
  const std::vector<std::span<const float>> slots_in(slots.begin(), slots.end());
  const std::vector<std::span<float>> slots_out(slots.begin(), slots.end());
  Json result = {{"rates", Json::array()}, {"values", Json::array()}};
  int64_t step = 0;
  for (const Json& gradient : test["gradients"]) {
    ++step;
    auto values = gradient.get<std::vector<float>>();
    const std::span<float> all(values);
    clip.Apply({&all, 1});
    optimizer.Apply({.gradient = values, .in = w, .out = w, .slots_in = slots_in,
                     .slots_out = slots_out, .step = step});
    result["rates"].push_back(optimizer.learning_rate(step));
    result["values"].push_back(w);
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      result["slots"][optimizer.slots()[slot]].push_back(slots[slot]);
    }
  }
  return result;
}

Json RunClip(const Json& test) {
  auto gradients = test["gradients"].get<std::vector<std::vector<float>>>();
  const std::vector<std::span<float>> spans(gradients.begin(), gradients.end());
  ClipOf(test).Apply(spans);
  return {{"clipped", gradients}};
}

int Main() {
  const Json tests = Json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  Json results = Json::array();
  for (const Json& test : tests) {
    results.push_back(test.contains("optimizer") ? RunSteps(test) : RunClip(test));
  }
  std::puts(results.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace taas

int main() { return taas::Main(); }
