#include "trainer/use/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {
namespace {

absl::Status CheckLogits(std::span<const float> logits) {
  CHECK(!logits.empty()) << "a token is one of some";
  const auto wrong =
      std::ranges::find_if(logits, [](float logit) { return !std::isfinite(logit); });
  if (wrong == logits.end()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "choose a token: the model says " + std::to_string(*wrong) + " of token " +
      std::to_string(wrong - logits.begin()) + " of " + std::to_string(logits.size()) +
      ", which is no finite number; its weights are damaged or have diverged: take an earlier "
      "checkpoint");
}

// Of the tokens that may come, in their order.
std::vector<size_t> Candidates(std::span<const float> logits, int64_t top_k) {
  std::vector<size_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), size_t{0});
  if (top_k == 0 || top_k >= std::ssize(tokens)) return tokens;
  const auto end = tokens.begin() + top_k;
  std::nth_element(tokens.begin(), end - 1, tokens.end(), [&](size_t a, size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  tokens.erase(end, tokens.end());
  std::ranges::sort(tokens);
  return tokens;
}

}  // namespace

absl::Status CheckSampling(const SamplingOptions& options) {
  if (!std::isfinite(options.temperature) || options.temperature < 0) {
    return absl::InvalidArgumentError("temperature: must be a number from 0, is " +
                                      std::to_string(options.temperature));
  }
  if (options.top_k >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError("top_k: must be a whole number from 0 (all tokens), is " +
                                    std::to_string(options.top_k));
}

absl::StatusOr<int64_t> SampleToken(std::span<const float> logits, const SamplingOptions& options,
                                    Random& random) {
  RETURN_IF_ERROR(CheckSampling(options));
  RETURN_IF_ERROR(CheckLogits(logits));
  const auto likeliest = std::ranges::max_element(logits);
  if (options.temperature == 0) return likeliest - logits.begin();
  const std::vector<size_t> tokens = Candidates(logits, options.top_k);
  std::vector<double> up_to;  // The weights of a token and of all before it.
  double sum = 0;
  for (const size_t token : tokens) {
    const double below = static_cast<double>(logits[token]) - static_cast<double>(*likeliest);
    sum += std::exp(below / options.temperature);
    up_to.push_back(sum);
  }
  // The first that reaches beyond the point: one without weight never does, and the last one
  // always: Unit() is at most 1 - 2^-53, and no product with that is rounded up to the sum.
  const auto found = std::ranges::upper_bound(up_to, random.Unit() * sum);
  CHECK(found != up_to.end()) << "a random number of 1";
  return static_cast<int64_t>(tokens[static_cast<size_t>(found - up_to.begin())]);
}

}  // namespace taas
