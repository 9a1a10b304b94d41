#include "trainer/data/generated/generated_clicks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/data/generated/generated_stream.h"

namespace taas {
namespace {

// Fewer clicks than not, but not so few that a test set has none.
constexpr float kLogOddsOfAll = -0.5f;
// Sizes of the effects: together they leave about a fifth of the entropy of a coin to be learnt.
constexpr float kSite = 0.5f, kAd = 0.5f, kPair = 0.7f, kAge = 0.4f, kHour = 0.4f, kIncome = 0.6f;
constexpr double kAgeLeast = 18, kAgeMost = 80;

// The place in kClickFeatures of each source.
absl::StatusOr<std::vector<size_t>> PlacesOf(const FeatureColumns& columns) {
  std::vector<size_t> places;
  for (const std::string& source : columns.sources()) {
    const auto found = std::ranges::find(kClickFeatures, source);
    if (found == std::end(kClickFeatures)) {
      std::string known;
      for (const std::string name : kClickFeatures) known += (known.empty() ? "" : ", ") + name;
      return absl::InvalidArgumentError("data.columns: generated clicks have no feature \"" +
                                        source + "\"; they have " + known);
    }
    places.push_back(static_cast<size_t>(found - std::begin(kClickFeatures)));
  }
  return places;
}

}  // namespace

class ClickDraws::Truth {
 public:
  explicit Truth(uint64_t seed)
      : sites_(TruthGaussians(seed, 0, kClickSites)),
        ads_(TruthGaussians(seed, 1, kClickAds)),
        pairs_(TruthGaussians(seed, 2, kClickSites * kClickAds)),
        ages_(TruthGaussians(seed, 3, std::ssize(kClickAges) + 1)) {}

  double LogOdds(size_t site, size_t ad, double age, int64_t hour, double income) const {
    const auto group = std::ranges::upper_bound(kClickAges, age) - std::begin(kClickAges);
    const double turn = 2 * std::numbers::pi * static_cast<double>(hour) / kClickHours;
    return kLogOddsOfAll + kSite * sites_[site] + kAd * ads_[ad] +
           kPair * pairs_[site * kClickAds + ad] + kAge * ages_[static_cast<size_t>(group)] +
           kHour * std::sin(turn) + kIncome * std::tanh(2 * income) * std::cos(income);
  }

 private:
  const std::vector<float> sites_, ads_, pairs_, ages_;
};

ClickDraws::ClickDraws(uint64_t seed)
    : seed_(seed), truth_(std::make_unique<const Truth>(seed)) {}

ClickDraws::~ClickDraws() = default;

Click ClickDraws::Draw(int64_t i) const {
  SeededRandom random = ExampleStream(seed_, i);
  Click click;
  click.site = static_cast<int64_t>(random.Below(kClickSites));
  click.ad = static_cast<int64_t>(random.Below(kClickAds));
  click.age = kAgeLeast + (kAgeMost - kAgeLeast) * random.Unit();
  click.hour = static_cast<int64_t>(random.Below(kClickHours));
  click.income = static_cast<double>(Gaussian(random));
  const double odds =
      truth_->LogOdds(static_cast<size_t>(click.site), static_cast<size_t>(click.ad), click.age,
                      click.hour, click.income);
  click.probability = 1 / (1 + std::exp(-odds));
  click.clicked = random.Unit() < click.probability;
  return click;
}

double ClickEntropy(double p) { return -(p * std::log(p) + (1 - p) * std::log1p(-p)); }

absl::StatusOr<GeneratedClicks> GenerateClicks(const GeneratedOptions& options,
                                               const FeatureColumns& columns) {
  ASSIGN_OR_RETURN(const std::vector<size_t> places, PlacesOf(columns));
  const ClickDraws draws(options.seed);
  std::vector<float> quantities;
  Ids ids{.width = columns.ids()};
  std::vector<int32_t> labels;
  std::vector<SourceValue> sources(places.size());
  double entropy = 0;
  for (int64_t i = 0; i < options.examples; ++i) {
    const Click click = draws.Draw(options.first + i);
    labels.push_back(click.clicked ? 1 : 0);
    entropy += ClickEntropy(click.probability);
    const std::string site_name = "site-" + std::to_string(click.site);
    const std::string ad_name = "ad-" + std::to_string(click.ad);
    const std::array<SourceValue, std::size(kClickFeatures)> features = {
        std::string_view(ad_name), click.age, click.hour, click.income,
        std::string_view(site_name)};
    for (size_t s = 0; s < places.size(); ++s) sources[s] = features[places[s]];
    RETURN_IF_ERROR(columns.Encode(sources, &quantities, &ids.values))
        .With("generated example " + std::to_string(options.first + i));
  }
  const int64_t floats = std::ssize(columns.shapes()) - ids.width;
  ASSIGN_OR_RETURN(Dataset set, Dataset::FromFloats("generated", std::move(quantities), floats,
                                                    std::move(labels), 2, std::move(ids)));
  set.set_columns(columns.shapes());
  return GeneratedClicks{std::move(set), entropy / static_cast<double>(options.examples)};
}

}  // namespace taas
