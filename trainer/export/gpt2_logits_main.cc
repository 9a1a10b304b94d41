// Prints what a GPT-2 says of each token of a text, as lists of lists: argv[1] is what
// `taas-trainer generate --checkpoint` takes, argv[2] spec.trainer.model, or "" for that of a
// config.json beside the file. The tokens, as many as the context has, are a list on standard
// input.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/base/file_system.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/trainer_config.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/use/trained_model.h"

namespace taas {
namespace {

absl::Status Print(const std::string& checkpoint, const std::string& model) {
  PosixFileSystem files;
  TrainerConfig config;
  config.model = model;
  config.data = "{}";
  if (model.empty()) {
    ASSIGN_OR_RETURN(const std::optional<std::string> beside, ModelBeside(files, checkpoint));
    config.model = beside.value_or("{}");
  }
  ASSIGN_OR_RETURN(TrainedModel trained, LoadTrainedModel(files, config, checkpoint));
  ASSIGN_OR_RETURN(const auto session, Session::Compile(CpuRuntime(), trained.model.graph,
                                                        {.batch = 1,
                                                         .fetches = {trained.model.logits},
                                                         .trainable = false}));
  for (size_t i = 0; i < trained.values.size(); ++i) {
    RETURN_IF_ERROR(session->UseVariable(i, TensorRef(trained.values[i])));
  }
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const auto tokens = nlohmann::json::parse(text).get<std::vector<int64_t>>();
  const std::span<int64_t> ids = session->Int64Input(trained.model.ids);
  if (tokens.size() != ids.size()) return absl::InvalidArgumentError("another number of tokens");
  std::copy(tokens.begin(), tokens.end(), ids.begin());
  RETURN_IF_ERROR(session->Run(RunKind::kForward));
  std::vector<float> room;
  ASSIGN_OR_RETURN(const std::span<const float> logits,
                   OnHost(session->output(trained.model.logits), &room));
  const size_t width = logits.size() / tokens.size();
  nlohmann::json rows = nlohmann::json::array();
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::span<const float> row = logits.subspan(i * width, width);
    rows.push_back(std::vector<float>(row.begin(), row.end()));
  }
  std::puts(rows.dump().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::Status status = taas::Print(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
