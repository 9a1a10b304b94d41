// Jobs by all-reduce in virtual time, whose processes are killed at every moment of a step and of
// what comes between epochs, on a network that is not to be relied on. What must hold while they
// train is testing/ledger.h's. TAAS_SEED=n: from this seed on.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "gtest/gtest.h"
#include "operator/base/log.h"
#include "operator/base/random.h"
#include "trainer/ring/testing/sim_job.h"

namespace taas::sim {
namespace {

constexpr int kSeeds = 100;
constexpr int kSeedsOfATest = 10;
constexpr int kKills = 1'000;
// Of one job; then the next begins, so that ends are hit as well as beginnings.
constexpr int kKillsOfAJob = 40;

int Number(const char* variable, int otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : std::atoi(given);
}

JobShape ShapeOf(Random& random) {
  JobShape shape;
  shape.replicas = 2 + static_cast<int>(random.Below(4));
  const auto replicas = static_cast<size_t>(shape.replicas);
  shape.max = replicas;
  // Every third is of a fixed number.
  shape.min = random.Below(3) == 0 ? replicas : 1 + random.Below(replicas);
  shape.max_steps = 20 + static_cast<int64_t>(random.Below(150));
  shape.checkpoint_steps = random.Below(2) == 0 ? 0 : 1 + static_cast<int64_t>(random.Below(20));
  shape.direct_elements_max = random.Below(3) == 0 ? 1'000 : random.Below(2) * 4;
  shape.chunk_elements = 4 + random.Below(12);
  // Every fourth exchanges tables as whole ones.
  shape.rows_saved_min = random.Below(4) == 0 ? 1'000'000 : random.Below(2) * 40;
  // One to four buckets of the ten elements that are trained and no tables.
  for (size_t end = random.Below(5); end > 0 && end < 10 && shape.bucket_ends.size() < 3;
       end += 1 + random.Below(5)) {
    shape.bucket_ends.push_back(end);
  }
  return shape;
}

class RingSurvivalTest : public testing::TestWithParam<int> {
 protected:
  RingSurvivalTest() { SetLogLevel(LogLevel::kError); }

  void RunSeed(int seed);

  SimJob::Killed killed_;
  int kills_ = 0, jobs_ = 0;
  int64_t steps_ = 0;
};

void RingSurvivalTest::RunSeed(int seed) {
  SeededRandom random(static_cast<uint64_t>(seed));
  for (int left = kKills; left > 0;) {
    const JobShape shape = ShapeOf(random);
    SimJob job(random.Next(), shape, {.kills = std::min(left, kKillsOfAJob)});
    job.Run();
    ASSERT_EQ(job.result().broken(), "")
        << "seed " << seed << ", " << kKills - left << " kills before this job of "
        << shape.replicas << " replicas, " << shape.min << " at least, " << shape.max_steps
        << " steps, checkpoints every " << shape.checkpoint_steps << ":\n"
        << job.story();
    for (const auto& [where, count] : job.killed()) killed_[where] += count;
    left -= std::max(1, job.kills());
    kills_ += job.kills();
    ++jobs_;
    steps_ += job.result().steps();
  }
}

// The chief neither joins nor calls others, and it alone ends the job.
bool Comes(bool chief, Phase phase) {
  switch (phase) {
    case Phase::kJoined:
    case Phase::kMeets:
    case Phase::kDone: return !chief;
    case Phase::kFinishes:
    case Phase::kSaysDone: return chief;
    case Phase::kPhases: return false;
    default: return true;
  }
}

TEST_P(RingSurvivalTest, NeitherStepsNorBatchesAreLostOrCountedTwiceWhoeverIsKilledWhen) {
  const int first = Number("TAAS_SEED", 1 + GetParam() * kSeedsOfATest);
  for (int seed = first; seed < first + kSeedsOfATest; ++seed) {
    RunSeed(seed);
    if (HasFatalFailure()) return;
  }
  std::cout << kills_ << " kills in " << jobs_ << " jobs, " << steps_ << " steps of ranks\n";
  for (const bool chief : {true, false}) {
    for (int number = 0; number < static_cast<int>(Phase::kPhases); ++number) {
      const auto phase = static_cast<Phase>(number);
      if (!Comes(chief, phase)) continue;
      std::cout << killed_[{chief, phase}] << (chief ? " chiefs" : " workers") << ", when it "
                << NameOf(phase) << "\n";
      EXPECT_GT((killed_[{chief, phase}]), 0) << NameOf(phase);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RingSurvivalTest, testing::Range(0, kSeeds / kSeedsOfATest));

}  // namespace
}  // namespace taas::sim
