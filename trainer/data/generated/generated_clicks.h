// Clicks on advertisements, drawn from a known probability: what Wide & Deep models are for, with
// the loss that no model can beat.
//
// The features are kClickFeatures. The log odds of a click are the sum of effects of the site, of
// the advertisement, of both together (which only crossed columns or many deep units learn), of the
// group of the age (by kClickAges), of the hour, and of a smooth function of the income.
//
// Ownership: the caller owns the result. Threads: any. Errors: InvalidArgument if a column needs a
// feature that is not there, or refuses its values.
//
//   ASSIGN_OR_RETURN(GeneratedClicks clicks, GenerateClicks({.examples = 1000}, columns));
//   clicks.best_loss;  // About 0.5.

#ifndef TRAINER_DATA_GENERATED_GENERATED_CLICKS_H_
#define TRAINER_DATA_GENERATED_GENERATED_CLICKS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "trainer/data/dataset.h"
#include "trainer/data/columns/feature_columns.h"
#include "trainer/data/generated/generated.h"

namespace taas {

inline constexpr const char* kClickFeatures[] = {"ad", "age", "hour", "income", "site"};
inline constexpr int64_t kClickAds = 40;      // "ad-0" to "ad-39".
inline constexpr int64_t kClickSites = 25;    // "site-0" to "site-24".
inline constexpr int64_t kClickHours = 24;
inline constexpr double kClickAges[] = {25, 35, 50, 65};  // Ages are from 18 to 80.

// What is known of one example, and drawn.
struct Click {
  int64_t site = 0, ad = 0, hour = 0;
  double age = 0, income = 0;
  double probability = 0;
  bool clicked = false;
};

// The examples of a seed; example i is the same wherever one begins.
class ClickDraws {
 public:
  explicit ClickDraws(uint64_t seed);
  ~ClickDraws();

  Click Draw(int64_t i) const;

 private:
  class Truth;
  const uint64_t seed_;
  const std::unique_ptr<const Truth> truth_;
};

// Of one that is clicked with this probability, in nats: the cross entropy of a model that knows
// it.
double ClickEntropy(double probability);

struct GeneratedClicks {
  Dataset set;           // Class 1 is a click.
  // The mean over the examples of the entropy of a click: the cross entropy of a model that knows
  // each probability (the Bayes loss).
  double best_loss = 0;
};

// Of the options seed, first and examples are used.
absl::StatusOr<GeneratedClicks> GenerateClicks(const GeneratedOptions& options,
                                               const FeatureColumns& columns);

}  // namespace taas

#endif  // TRAINER_DATA_GENERATED_GENERATED_CLICKS_H_
