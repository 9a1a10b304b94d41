#include <cstdlib>
#include <string>
#include <vector>

#include "dashboard/events/fake_events.h"
#include "dashboard/events/histogram_routes.h"
#include "dashboard/events/run_set.h"
#include "dashboard/events/tensorboard_routes.h"
#include "gtest/gtest.h"
#include "operator/base/fake_directory.h"
#include "operator/base/random.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

constexpr char kName[] = "events.out.tfevents.1";
constexpr int kRounds = 500;

// Of all kinds that are read.
std::vector<std::string> Messages() {
  const std::string scalars = Metadata({.plugin = "scalars", .description = "d"});
  const std::string histograms = Metadata({.plugin = "histograms"});
  std::vector<std::string> messages = {FileVersionEvent(1), StartEvent(1, 0)};
  for (int64_t step = 0; step < 6; ++step) {
    const FakeHisto histo{.min = -1, .max = 2, .limits = {-1, 0, 1e300}, .counts = {0, 3, 4}};
    messages.push_back(SummaryEvent(
        2.5, step, {SimpleValue("a", 0.5f), HistoValue("b", histo),
                    TensorValue("c", FloatTensor(2), scalars),
                    TensorValue("d", RowsTensor({0, 1, 2, 1, 2, 3}), histograms)}));
    if (step == 4) messages.push_back(StartEvent(2, 3));
  }
  return messages;
}

void Damage(SeededRandom* random, std::string* bytes) {
  for (uint64_t changes = 1 + random->Below(4); changes > 0 && !bytes->empty(); --changes) {
    const size_t at = random->Below(bytes->size());
    switch (random->Below(5)) {
      case 0:
        (*bytes)[at] = static_cast<char>(random->Next());
        break;
      case 1:
        (*bytes)[at] = static_cast<char>((*bytes)[at] ^ 1 << random->Below(8));
        break;
      case 2:
        bytes->erase(at, 1 + random->Below(20));
        break;
      case 3:
        bytes->insert(at, bytes->substr(random->Below(bytes->size()), random->Below(30)));
        break;
      case 4:
        bytes->replace(at, 1, std::string(1 + random->Below(9), '\xff'));
        break;
    }
  }
}

// Asks for everything that the tags' routes name; each answer has to be JSON, or a sentence.
void AskAll(const RunSet& runs) {
  const auto ask = [&](const std::string& path, const std::string& tag) {
    const std::vector<std::pair<std::string, std::string>> query = {{"run", "."}, {"tag", tag}};
    const Answer answer = path.starts_with("/data/plugin")
                              ? AnswerTensorBoard(runs, path, query)
                              : AnswerHistogramRoutes(runs, path, query);
    EXPECT_EQ(answer.status, 200) << path << " " << tag << ": " << answer.body;
    return nlohmann::json::parse(answer.body);
  };
  EXPECT_TRUE(nlohmann::json::accept(AnswerHistogramRoutes(runs, "/data/problems", {}).body));
  const nlohmann::json scalars = ask("/data/plugin/scalars/tags", "");
  for (const auto& [run, tags] : scalars.items()) {
    for (const auto& [tag, names] : tags.items()) ask("/data/plugin/scalars/scalars", tag);
  }
  const nlohmann::json histograms = ask("/data/plugin/histograms/tags", "");
  for (const auto& [run, tags] : histograms.items()) {
    for (const auto& [tag, names] : tags.items()) {
      ask("/data/plugin/histograms/histograms", tag);
      ask("/data/plugin/distributions/distributions", tag);
      const nlohmann::json series = ask("/data/histograms/series", tag);
      for (const nlohmann::json& histogram : series["histograms"]) {
        const size_t bins = histogram["counts"].size();
        EXPECT_EQ(histogram["edges"].size(), bins == 0 ? 0 : bins + 1);
      }
    }
  }
}

uint64_t SeedOf(uint64_t otherwise) {
  const char* const seed = std::getenv("TAAS_SEED");
  return seed == nullptr ? otherwise : std::strtoull(seed, nullptr, 10);
}

// The bytes of the file itself: framing.
TEST(DamageTest, DamagedFilesNeverStopAReader) {
  const uint64_t seed = SeedOf(1);
  SeededRandom random(seed);
  std::string whole;
  for (const std::string& message : Messages()) whole += FramedRecord(message);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("TAAS_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    std::string bytes = whole;
    Damage(&random, &bytes);
    const FakeDirectory fake;
    const size_t cut = random.Below(bytes.size() + 1);
    fake.Write(kName, bytes.substr(0, cut));
    RunSet runs(fake.path());
    ASSERT_TRUE(runs.Refresh());
    fake.Append(kName, bytes.substr(cut));
    ASSERT_TRUE(runs.Refresh());
    AskAll(runs);
    if (HasFailure()) return;
  }
}

// Messages behind a checksum that is right: what an odd writer writes, or somebody who means harm.
TEST(DamageTest, DamagedMessagesNeverStopAReader) {
  const uint64_t seed = SeedOf(2);
  SeededRandom random(seed);
  const std::vector<std::string> messages = Messages();
  const FakeDirectory fake;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("TAAS_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    std::string bytes;
    for (std::string message : messages) {
      if (random.Below(3) == 0) Damage(&random, &message);
      bytes += FramedRecord(message);
    }
    fake.Write(kName, bytes);
    RunSet runs(fake.path());
    ASSERT_TRUE(runs.Refresh());
    AskAll(runs);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace taas::dashboard
