#include "cli/job_use.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas {
namespace {

using testing::HasSubstr;
using testing::Not;

const RankTimes kUneven{
    .ranks = {{.role = Role::kChief, .index = 0, .compute = 0.414, .wait = 0.38, .exchange = 0.15,
               .hidden = 0.2, .bytes_per_step = 2 << 20},
              {.role = Role::kWorker, .index = 1, .compute = 0.79, .wait = 0.006,
               .exchange = 0.15, .hidden = 0, .bytes_per_step = 2 << 20}},
    .slowest = "worker-1"};

std::vector<JobUse> OneJob() {
  SeenJob job;
  job.meta.ns = "team";
  job.meta.name = "ring";
  job.meta.uid = "u";
  const PodUse pod{.ns = "team", .name = "ring-chief-0", .node = "n1", .state = "Running",
                   .job_uid = "u", .replica = "chief-0", .asked = {1500, 1 << 20, 2},
                   .used = Measured{7, 3 << 20}};
  PodUse others = pod;
  others.job_uid = "v";
  PodUse waits = pod;
  waits.node = "";
  waits.used.reset();
  return {UseOf(job, {pod, others, waits})};
}

TEST(JobUseTest, RanksAreRowsOfPercentAndASentenceNamesTheSlowest) {
  EXPECT_EQ(RankTable(kUneven),
            "REPLICA    COMPUTE   WAIT   EXCHANGE   HIDDEN   SENT/STEP\n"
            "chief-0    41%       38%    15%        20%      2.0Mi\n"
            "worker-1   79%       1%     15%        0%       2.0Mi\n"
            "worker-1 is the slowest: the others wait for it.\n");
  EXPECT_THAT(RankTable({.ranks = kUneven.ranks, .slowest = ""}),
              HasSubstr("\nNo rank is notably slower than the others.\n"));
}

TEST(JobUseTest, AJobsUseIsThatOfItsOwnPods) {
  EXPECT_EQ(JobUseTable(OneJob(), true),
            "NAMESPACE   NAME   KIND          STATE     PODS   GPUS(ASKED)   GPUS(HELD)   "
            "CPU(HELD)   MEM(HELD)   CPU(USED)   MEM(USED)\n"
            "team        ring   TrainingJob   Pending   1/2    4             2            "
            "1500m       1.0Mi       7m          3.0Mi\n");
}

TEST(JobUseTest, TheJsonHasWhatIsKnownInUnitsThatItsNamesSay) {
  const JobUseDetail detail{
      .pods = {{.ns = "team", .name = "ring-chief-0", .node = "n1", .state = "Running",
                .job_uid = "u", .replica = "chief-0", .asked = {1500, 1 << 20, 2}, .used = {}}},
      .times = kUneven};
  const auto json = nlohmann::json::parse(JobUseJson(OneJob(), &detail));
  const auto& job = json["jobs"][0];
  EXPECT_EQ(job["name"], "ring");
  EXPECT_EQ(job["gpus"], nlohmann::json({{"asked", 4}, {"held", 2}}));
  EXPECT_EQ(job["used"], nlohmann::json({{"milliCpu", 7}, {"memoryBytes", 3 << 20}}));
  EXPECT_EQ(job["replicas"][0]["asked"]["milliCpu"], 1500);
  EXPECT_FALSE(job["replicas"][0].contains("used")) << "nobody has measured it";
  EXPECT_EQ(job["ranks"][1]["replica"], "worker-1");
  EXPECT_EQ(job["ranks"][1]["wait"], 0.006);
  EXPECT_EQ(job["ranks"][0]["bytesPerStep"], 2 << 20);
  EXPECT_EQ(job["slowest"], "worker-1");
  EXPECT_THAT(JobUseJson(OneJob(), nullptr), Not(HasSubstr("replicas")));
  EXPECT_EQ(JobUseJson({}, nullptr), "{\n  \"jobs\": []\n}\n");
}

TEST(JobUseTest, OfAJobWhoseRanksTellNothingTheJsonHasNone) {
  const JobUseDetail detail;
  EXPECT_THAT(JobUseJson(OneJob(), &detail), Not(HasSubstr("ranks")));
}

}  // namespace
}  // namespace taas
