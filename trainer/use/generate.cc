#include "trainer/use/generate.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/base/status.h"
#include "trainer/data/text.h"

namespace taas {
namespace {

absl::Status CheckModel(const TrainedModel& trained) {
  if (!trained.model.of_tokens) {
    return absl::UnimplementedError(
        "the model of " + trained.source +
        " does not predict the next token of a text, as gpt2 does, so that it writes none; "
        "`taas-trainer predict` asks it about examples");
  }
  if (trained.shape.vocabulary == kByteVocabulary) return absl::OkStatus();
  return absl::UnimplementedError(
      "the model of " + trained.source + " has " + std::to_string(trained.shape.vocabulary) +
      " tokens, and those of a text are its bytes, " + std::to_string(kByteVocabulary) +
      " here: which text its tokens stand for only its own tokenizer knows");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Generator>> Generator::Make(const Runtime& runtime,
                                                           TrainedModel& trained) {
  RETURN_IF_ERROR(CheckModel(trained));
  ASSIGN_OR_RETURN(auto session, Session::Compile(runtime, trained.model.graph,
                                                  {.batch = 1,
                                                   .fetches = {trained.model.logits},
                                                   .trainable = false}));
  for (size_t i = 0; i < trained.values.size(); ++i) {
    RETURN_IF_ERROR(session->UseVariable(i, TensorRef(trained.values[i])));
  }
  return std::unique_ptr<Generator>(new Generator(trained, std::move(session)));
}

absl::Status Generator::Generate(std::string_view prompt, const GenerateOptions& options,
                                 const std::function<absl::Status(uint8_t token)>& each) {
  if (prompt.empty()) {
    return absl::InvalidArgumentError(
        "generate a text: the prompt is empty; it must have a byte at least, which the model goes "
        "on from");
  }
  RETURN_IF_ERROR(CheckSampling(options.sampling));
  const auto context = static_cast<size_t>(context_);
  const std::string_view seen = prompt.substr(prompt.size() - std::min(prompt.size(), context));
  // Tokens behind the text have no influence on those before them, whatever they are.
  const std::span<int64_t> ids = session_->Int64Input(trained_.model.ids);
  std::ranges::fill(ids, 0);
  std::ranges::transform(seen, ids.begin(), [](char c) { return static_cast<uint8_t>(c); });
  size_t count = seen.size();
  SeededRandom random(options.seed);
  std::vector<float> room;
  for (int64_t i = 0; i < options.length; ++i) {
    RETURN_IF_ERROR(session_->Run(RunKind::kForward));
    ASSIGN_OR_RETURN(const std::span<const float> logits,
                     OnHost(session_->output(trained_.model.logits), &room));
    const size_t vocabulary = logits.size() / context;
    ASSIGN_OR_RETURN(const int64_t token,
                     SampleToken(logits.subspan((count - 1) * vocabulary, vocabulary),
                                 options.sampling, random));
    RETURN_IF_ERROR(each(static_cast<uint8_t>(token)));
    if (count == context) {
      std::shift_left(ids.begin(), ids.end(), 1);
      --count;
    }
    ids[count++] = token;
  }
  return absl::OkStatus();
}

}  // namespace taas
