// Trains a named model on given batches and tells each loss, for a test that asks PyTorch the same.
//
// Standard input is JSON: {"model": {…}, "image": [28, 28, 1], "classes": 10, "batch": 32, "steps":
// 20, "optimizer": {…}, "folder": DIR}, and "precision": "bfloat16", "regularization": {"l1", "l2"}
// and "clip": {…} where wanted; of a text "image" is its length, and the classes are the tokens.
// DIR/features holds the features of all steps,
// float32 or, of texts, int32; DIR/labels the labels, int32, one per token of a text; both as they
// lie in memory. The trainable variables as they are before the first step are written to
// DIR/variables, float32, one behind the other, and as they are after the last to DIR/trained.
// Standard output is {"variables": [{"name", "shape"}…], "losses": […]}.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/gradient_clip.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/task/gradient_work.h"
#include "trainer/task/model_update.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// The next numbers of a file.
template <typename T>
void Read(std::ifstream& file, std::span<T> out) {
  file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size_bytes()));
  CHECK(file.good()) << "a file of the test ends too early";
}

class Inputs {
 public:
  Inputs(const std::string& folder, const Model& model)
      : model_(model),
        features_(folder + "/features", std::ios::binary),
        labels_(folder + "/labels", std::ios::binary) {}

  void Next(Session& session) {
    Read(labels_, session.Int32Input(model_.labels));
    if (!model_.of_tokens) return Read(features_, session.FloatInput(model_.features));
    const std::span<int64_t> ids = session.Int64Input(model_.ids);
    std::vector<int32_t> text(ids.size());
    Read(features_, std::span(text));
    std::ranges::copy(text, ids.begin());
  }

 private:
  const Model& model_;
  std::ifstream features_, labels_;
};

Json WriteVariables(Session& session, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  Json list = Json::array();
  for (size_t i = 0; i < session.variables().size(); ++i) {
    const VariableInfo& variable = session.variables()[i];
    if (!variable.trainable) continue;
    const std::span<const float> values = session.variable(i).host();
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size_bytes()));
    list.push_back({{"name", variable.name}, {"shape", variable.shape.dims()}});
  }
  file.close();
  CHECK(!file.fail()) << "cannot write " << path;
  return list;
}

absl::StatusOr<Json> Train(const Json& test) {
  const Json& image = test["image"];
  const DataShape shape =
      image.size() == 3
          ? DataShape{.features = test["features"],
                      .classes = test["classes"],
                      .image = {image[0], image[1], image[2]}}
          : DataShape{.features = image[0].get<int64_t>(), .vocabulary = test["classes"]};
  ASSIGN_OR_RETURN(ModelSpec spec, ParseModel(test["model"].dump(), shape));
  if (test.contains("regularization")) {
    spec.l1 = test["regularization"].value("l1", 0.0);
    spec.l2 = test["regularization"].value("l2", 0.0);
  }
  ASSIGN_OR_RETURN(const Model model, BuildModel(spec));
  ASSIGN_OR_RETURN(const auto optimizer, Optimizer::Parse(test["optimizer"].dump()));
  ASSIGN_OR_RETURN(const GradientClip clip,
                   GradientClip::Parse(test.contains("clip") ? test["clip"].dump() : ""));
  SessionOptions options{.batch = test["batch"], .loss = model.loss};
  if (test.value("precision", "") == "bfloat16") options.products = Precision::kBFloat16;
  ASSIGN_OR_RETURN(const auto session, Session::Compile(CpuRuntime(), model.graph, options));
  RETURN_IF_ERROR(session->InitializeVariables(/*seed=*/1));
  ASSIGN_OR_RETURN(const auto work, GradientWork::Make(*session, clip, /*loss_scale=*/1));
  if (work->works()) session->Append(RunKind::kTrain, *work);
  ASSIGN_OR_RETURN(const auto update, ModelUpdate::Make(*optimizer, *session));
  const auto folder = test["folder"].get<std::string>();
  Inputs inputs(folder, model);
  Json result = {{"variables", WriteVariables(*session, folder + "/variables")},
                 {"losses", Json::array()}};
  for (int64_t step = 0; step < test["steps"].get<int64_t>(); ++step) {
    inputs.Next(*session);
    session->SetStep(step);
    update->Prepare(step + 1);
    RETURN_IF_ERROR(session->Run(RunKind::kStep));
    result["losses"].push_back(session->loss());
  }
  WriteVariables(*session, folder + "/trained");
  return result;
}

int Main() {
  const Json test = Json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  const auto result = Train(test);
  CHECK(result.ok()) << result.status().ToString();
  std::puts(result->dump().c_str());
  return 0;
}

}  // namespace
}  // namespace taas

int main() { return taas::Main(); }
