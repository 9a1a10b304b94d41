// Trains a named model step by step when it is told to: our side of bench/trainer/run.py.
//
// It is the local loop of taas-trainer (batches gathered out of the data in memory, one session,
// one optimizer) without what that does beside steps: taas-trainer runs one thread per session and
// decides itself how long it trains, while the sides that are compared here take turns and have as
// many threads as they are given.
//
// The first line of standard input is JSON:
//   {"model": {…}, "image": [28, 28, 1], "features": 784, "classes": 10, "batch": 100,
//    "examples": 10000, "threads": 1, "optimizer": {…}}      ("image" of a text is [])
// and "precision": "bfloat16" where wanted.
// It answers {"ready": true, "parameters": N} after two steps, or {"unknown": WHY} for a model that
// BuildModel does not know. Each further line is a number of steps, answered by {"seconds": S,
// "loss": L}.
//
//   steps gemm THREADS    the same with products of matrices as the steps: {"seconds", "flops"}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/data/batch_plan.h"
#include "trainer/data/dataset.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/kernels/cpu/gemm.h"
#include "trainer/model/data_shape.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/task/model_update.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr int kWarmUp = 2;  // The first touches all memory, the second is as all others.
// Of a product that is large enough for the library's full speed, and small enough for 10 a second.
constexpr int64_t kGemmSize = 1'024;

void Answer(const Json& json) {
  std::puts(json.dump().c_str());
  std::fflush(stdout);
}

// Bytes of any content: all values are alike likely.
std::vector<uint8_t> MakeBytes(size_t count) {
  std::vector<uint8_t> bytes(count);
  uint32_t state = 1;
  for (uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

// Images, each with its class, or a text.
Dataset MakeData(const Json& config) {
  const auto count = config["examples"].get<size_t>();
  const auto features = config["features"].get<int64_t>();
  const auto classes = config["classes"].get<int32_t>();
  std::vector<uint8_t> bytes = MakeBytes(count * static_cast<size_t>(features) + 1);
  if (config["image"].empty()) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(byte % classes);
    auto set = Dataset::FromTokens("text", std::move(bytes), features, classes);
    CHECK(set.ok()) << set.status().ToString();
    return *std::move(set);
  }
  bytes.pop_back();
  std::vector<int32_t> labels(count);
  for (size_t i = 0; i < count; ++i) labels[i] = static_cast<int32_t>(i) % classes;
  auto set = Dataset::FromPixels("images", std::move(bytes), features, std::move(labels), classes);
  CHECK(set.ok()) << set.status().ToString();
  const Json& image = config["image"];
  set->set_image({image[0], image[1], image[2]});
  return *std::move(set);
}

class Training {
 public:
  static absl::StatusOr<std::unique_ptr<Training>> Make(const Json& config) {
    Dataset data = MakeData(config);
    ASSIGN_OR_RETURN(const ModelSpec spec, ParseModel(config["model"].dump(), ShapeOf(data)));
    ASSIGN_OR_RETURN(Model model, BuildModel(spec));
    ASSIGN_OR_RETURN(auto optimizer, Optimizer::Parse(config["optimizer"].dump()));
    SessionOptions options{
        .batch = config["batch"], .loss = model.loss, .threads = config["threads"]};
    if (config.value("precision", "") == "bfloat16") options.products = Precision::kBFloat16;
    ASSIGN_OR_RETURN(auto session, Session::Compile(CpuRuntime(), model.graph, options));
    CHECK(session->InitializeVariables(/*seed=*/1).ok()) << "initialize";
    return std::unique_ptr<Training>(new Training(config, std::move(data), std::move(model),
                                                  std::move(optimizer), std::move(session)));
  }

  absl::Status Step() {
    plan_.Indices(step_, indices_);
    GatherRows(data_, indices_, InputsOf(model_, *session_));
    session_->SetStep(step_);
    update_->Prepare(++step_);
    return session_->Run(RunKind::kStep);
  }

  float loss() const { return session_->loss(); }

  size_t parameters() const {
    size_t count = 0;
    for (const VariableInfo& variable : session_->variables()) {
      if (variable.trainable) count += variable.count;
    }
    return count;
  }

 private:
  Training(const Json& config, Dataset data, Model model, std::unique_ptr<Optimizer> optimizer,
           std::unique_ptr<Session> session)
      : model_(std::move(model)),
        optimizer_(std::move(optimizer)),
        session_(std::move(session)),
        update_(*ModelUpdate::Make(*optimizer_, *session_)),
        plan_({.seed = 1, .examples = config["examples"], .batch_size = config["batch"]}),
        indices_(static_cast<size_t>(plan_.batch_size())),
        data_(std::move(data)) {}

  const Model model_;
  const std::unique_ptr<Optimizer> optimizer_;
  const std::unique_ptr<Session> session_;
  const std::unique_ptr<ModelUpdate> update_;
  const BatchPlan plan_;
  std::vector<int64_t> indices_;
  const Dataset data_;
  int64_t step_ = 0;
};

// Makes as many steps as each line of standard input says, and tells how long they took.
template <typename Step, typename About>
void Serve(const Step& step, const About& about) {
  const RealClock clock;
  for (std::string line; std::getline(std::cin, line);) {
    const int count = std::atoi(line.c_str());
    const Clock::Time start = clock.Now();
    for (int i = 0; i < count; ++i) {
      const absl::Status status = step();
      CHECK(status.ok()) << status.ToString();
    }
    const std::chrono::duration<double> spent = clock.Now() - start;
    Json answer = about();
    answer["seconds"] = spent.count();
    Answer(answer);
  }
}

void ServeProducts(int threads) {
  const size_t size = static_cast<size_t>(kGemmSize * kGemmSize);
  const std::vector<float> a(size, 0.5f), b(size, 0.5f);
  std::vector<float> out(size);
  const GemmShape shape{.m = kGemmSize, .n = kGemmSize, .k = kGemmSize, .threads = threads};
  const auto step = [&] { return Gemm(shape, a.data(), b.data(), out.data()); };
  CHECK(step().ok());
  Answer({{"ready", true}});
  Serve(step, [] {
    return Json{{"flops", 2.0 * kGemmSize * kGemmSize * kGemmSize}};
  });
}

int ServeTraining() {
  std::string line;
  std::getline(std::cin, line);
  const Json config = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) {
    std::fprintf(stderr, "steps: the first line of standard input is not JSON: %s\n", line.c_str());
    return 2;
  }
  const auto training = Training::Make(config);
  if (!training.ok()) {
    Answer({{"unknown", std::string(training.status().message())}});
    return 0;
  }
  const auto step = [&] { return (*training)->Step(); };
  for (int i = 0; i < kWarmUp; ++i) {
    const absl::Status status = step();
    CHECK(status.ok()) << status.ToString();
  }
  Answer({{"ready", true}, {"parameters", (*training)->parameters()}});
  Serve(step, [&] { return Json{{"loss", (*training)->loss()}}; });
  return 0;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "gemm" && std::atoi(argv[2]) > 0) {
    taas::ServeProducts(std::atoi(argv[2]));
    return 0;
  }
  if (argc != 1) {
    std::fprintf(stderr, "usage: steps < COMMANDS | steps gemm THREADS < COMMANDS\n");
    return 2;
  }
  return taas::ServeTraining();
}
