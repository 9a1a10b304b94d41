#include <cstdint>
#include <cstdio>
#include <string>

#include "trainer/data/fetch/data_sets.h"
#include "trainer/data/generated/generated_clicks.h"

namespace taas {
namespace {

constexpr uint64_t kSeed = 1;
// So many that a wide and deep model comes near the least loss.
constexpr int64_t kTrain = 200'000, kTest = 20'000;

// Examples [first, first + count) as a table; `*entropy` becomes the mean of theirs.
std::string Table(const ClickDraws& draws, int64_t first, int64_t count, double* entropy) {
  std::string table = "ad,age,hour,income,site,click\n";
  double sum = 0;
  char row[128];
  for (int64_t i = first; i < first + count; ++i) {
    const Click click = draws.Draw(i);
    sum += ClickEntropy(click.probability);
    const int length = std::snprintf(
        row, sizeof row, "ad-%d,%.1f,%d,%.3f,site-%d,%d\n", static_cast<int>(click.ad), click.age,
        static_cast<int>(click.hour), click.income, static_cast<int>(click.site),
        click.clicked ? 1 : 0);
    table.append(row, static_cast<size_t>(length));
  }
  *entropy = sum / static_cast<double>(count);
  return table;
}

FolderContent Make() {
  const ClickDraws draws(kSeed);
  double entropy = 0;
  FolderContent content;
  content.files.emplace_back("train.csv", Table(draws, 0, kTrain, &entropy));
  content.files.emplace_back("test.csv", Table(draws, kTrain, kTest, &entropy));
  char least[32];
  std::snprintf(least, sizeof least, "%.4f", entropy);
  content.source = "made clicks: " + std::to_string(kTrain) + " to train, " +
                   std::to_string(kTest) + " to test, seed " + std::to_string(kSeed) +
                   "; no model's loss on the test set is below " + least;
  return content;
}

}  // namespace

absl::StatusOr<Fetched> FetchClicks(FileSystem& files, const FetchOptions& options) {
  return FetchSet(files, options,
                  {.name = "clicks", .files = {"train.csv", "test.csv"}, .make = Make});
}

}  // namespace taas
