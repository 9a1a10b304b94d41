// Text of a model that predicts the next token of a text, as gpt2 does: token after token, each of
// which is chosen from what the model says of all before it (sampling.h).
//
// Tokens are bytes, as in the training (trainer/data/text.h). The model sees as many of them as its
// context has; of a longer text the last ones count.
//
// What a token costs: one forward pass over the whole context, however short the text is. Nothing
// is kept from one token to the next (no cache of keys and values), so a token costs about
// 2 · weights · context operations, and a text of n tokens n times that.
//
// Ownership: Generator owns its session, which reads the values it was given (borrowed). Threads:
// one at a time. Errors: Unimplemented (the model predicts no tokens, or tokens that are no bytes),
// InvalidArgument (an empty prompt, options), those of sampling.
//
//   ASSIGN_OR_RETURN(auto generator, Generator::Make(CpuRuntime(), trained));
//   RETURN_IF_ERROR(generator->Generate("To be", {.length = 100, .seed = 1},
//                                       [](uint8_t token) { return Print(token); }));

#ifndef TRAINER_USE_GENERATE_H_
#define TRAINER_USE_GENERATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/session.h"
#include "trainer/use/sampling.h"
#include "trainer/use/trained_model.h"

namespace taas {

struct GenerateOptions {
  int64_t length = 200;  // Tokens.
  SamplingOptions sampling{};
  uint64_t seed = 0;  // The same gives the same text.
};

class Generator {
 public:
  // `trained` must outlive the result.
  static absl::StatusOr<std::unique_ptr<Generator>> Make(const Runtime& runtime,
                                                         TrainedModel& trained);

  // How many tokens the model sees.
  int64_t context() const { return context_; }

  // `each` is called as soon as its token is known; the prompt is not among them. An error of it
  // ends the text and is the result.
  absl::Status Generate(std::string_view prompt, const GenerateOptions& options,
                        const std::function<absl::Status(uint8_t token)>& each);

 private:
  Generator(const TrainedModel& trained, std::unique_ptr<Session> session)
      : trained_(trained),
        context_(trained.shape.features),
        session_(std::move(session)) {}

  const TrainedModel& trained_;
  const int64_t context_;
  const std::unique_ptr<Session> session_;
};

}  // namespace taas

#endif  // TRAINER_USE_GENERATE_H_
