// Which token comes next, of the logits that a model gave: the most likely one, or one by chance.
//
// With a temperature T the probability of a token is proportional to exp(logit / T): below 1 likely
// tokens become likelier, above 1 they become less so; 0 is the most likely token, without chance.
// `top_k` leaves only the k largest logits (Fan et al. 2018, "Hierarchical Neural Story
// Generation"): exactly k, also where several are equal, of which the tokens with the least numbers
// are taken. The most likely token is the least of those that are equal, too.
//
// The sum is in double and in the order of the tokens, so that the same logits, options and state
// of `random` give the same token.
//
// Ownership: borrows all. Threads: any, one for each Random. Errors: InvalidArgument of options;
// FailedPrecondition of a logit that is no finite number.
//
//   SeededRandom random(seed);
//   ASSIGN_OR_RETURN(const int64_t token, SampleToken(logits, {.temperature = 0.8}, random));

#ifndef TRAINER_USE_SAMPLING_H_
#define TRAINER_USE_SAMPLING_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/random.h"

namespace taas {

struct SamplingOptions {
  double temperature = 1;  // From 0.
  int64_t top_k = 0;       // 0: all tokens; so are as many as there are, or more.
};

absl::Status CheckSampling(const SamplingOptions& options);

// The place of a logit; there is one at least. Takes one number of `random`, or none where the
// temperature is 0.
absl::StatusOr<int64_t> SampleToken(std::span<const float> logits, const SamplingOptions& options,
                                    Random& random);

}  // namespace taas

#endif  // TRAINER_USE_SAMPLING_H_
