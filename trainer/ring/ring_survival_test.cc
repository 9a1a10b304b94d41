// Jobs by all-reduce in virtual time, whose processes are killed at every moment of a step and of
// what comes between epochs, on a network that is not to be relied on. What must hold while they
// train is testing/ledger.h's.

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "operator/base/log.h"
#include "operator/base/random.h"
#include "trainer/ring/testing/sim_job.h"

namespace taas::sim {
namespace {

constexpr int kSeeds = 100;
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
  shape.chunk_elements = 1 + random.Below(6);
  return shape;
}

TEST(RingSurvivalTest, NeitherStepsNorBatchesAreLostOrCountedTwiceWhoeverIsKilledWhen) {
  SetLogLevel(LogLevel::kError);
  const int first = Number("TAAS_SEED", 1);
  const int seeds = Number("TAAS_SEEDS", kSeeds);
  SimJob::Killed killed;
  int kills = 0, jobs = 0;
  int64_t steps = 0;
  uint64_t events = 0;
  for (int seed = first; seed < first + seeds; ++seed) {
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
      for (const auto& [where, count] : job.killed()) killed[where] += count;
      left -= std::max(1, job.kills());
      kills += job.kills();
      ++jobs;
      steps += job.result().steps();
      events += job.events_ran();
    }
  }
  std::cout << seeds << " seeds: " << kills << " kills in " << jobs << " jobs, " << steps
            << " steps of ranks, " << events << " events\n";
  for (const bool chief : {true, false}) {
    for (int phase = 0; phase < static_cast<int>(Phase::kPhases); ++phase) {
      const auto at = static_cast<Phase>(phase);
      std::cout << (chief ? "chief " : "worker ") << NameOf(at) << ": " << killed[{chief, at}]
                << "\n";
    }
  }
}

}  // namespace
}  // namespace taas::sim
