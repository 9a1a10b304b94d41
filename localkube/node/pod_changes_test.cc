#include "localkube/node/pod_changes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

Json Status(const std::string& state, int restarts = 0) {
  return {{"containerStatuses",
           Json::array(
               {{{"name", "c"}, {"restartCount", restarts}, {"state", Json::parse(state)}}})}};
}

constexpr char kWaiting[] = R"({"waiting":{"reason":"ContainerCreating"}})";
constexpr char kRunning[] = R"({"running":{}})";
constexpr char kBackOff[] = R"({"waiting":{"reason":"CrashLoopBackOff"}})";
constexpr char kEnded[] = R"({"terminated":{"reason":"Completed"}})";
constexpr char kNoStart[] = R"({"terminated":{"reason":"StartError","message":"no such file"}})";
constexpr char kNoConfig[] =
    R"({"waiting":{"reason":"CreateContainerConfigError","message":"secret \"s\" not found"}})";

std::vector<std::string> Changes(const Json& before, const Json& after) {
  const Json pod = {{"metadata", {{"name", "p"}, {"namespace", "n"}, {"uid", "u"}}},
                    {"status", before}};
  std::vector<std::string> out;
  for (const PodEvent& event : ChangeEvents(pod, after)) {
    out.push_back((event.warning ? "!" : "") + event.reason + " " + event.message);
  }
  return out;
}

TEST(ChangeEventsTest, AStartIsToldOncePerRun) {
  EXPECT_THAT(Changes(Status(kWaiting), Status(kRunning)),
              ElementsAre("Started Started container c"));
  EXPECT_THAT(Changes(Json(), Status(kEnded)), ElementsAre("Started Started container c"))
      << "too quick to be seen running";
  EXPECT_THAT(Changes(Status(kRunning), Status(kEnded)), IsEmpty());
  EXPECT_THAT(Changes(Status(kRunning), Status(kRunning, 1)),
              ElementsAre("Started Started container c"));
}

TEST(ChangeEventsTest, WhatKeepsAContainerFromRunningIsAWarning) {
  EXPECT_THAT(Changes(Status(kRunning), Status(kBackOff)),
              ElementsAre("!BackOff Back-off restarting failed container c in pod p_n(u)"));
  EXPECT_THAT(Changes(Status(kBackOff), Status(kBackOff)), IsEmpty());
  EXPECT_THAT(Changes(Status(kWaiting), Status(kNoStart)),
              ElementsAre("!Failed Error: no such file"));
  EXPECT_THAT(Changes(Status(kWaiting), Status(kNoConfig)),
              ElementsAre("!Failed Error: secret \"s\" not found"));
}

TEST(StartEventsTest, AnotherImageAndProbesThatAreLeftOutAreToldBeforehand) {
  EXPECT_THAT(StartEvents({{"name", "c"}, {"image", "taas/trainer:0.1.0"}}), IsEmpty());
  // Symptom: a manifest for another version trained with this one, and nobody said so.
  const auto tag = StartEvents({{"name", "c"}, {"image", "taas/trainer:0.9.0"}});
  ASSERT_EQ(tag.size(), 1u);
  EXPECT_EQ(tag[0].reason, "ImageNotPulled");
  EXPECT_EQ(tag[0].message,
            "image \"taas/trainer:0.9.0\" is not pulled: whatever its tag, the trainer's image "
            "means the program beside taas, which is that of taas/trainer:0.1.0");
  const auto events =
      StartEvents(Json::parse(R"({"name":"c","image":"own:1","command":["/bin/true"],
                                  "livenessProbe":{"exec":{}}})"));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].message,
            "image \"own:1\" is not pulled: the command of container c runs with the programs of "
            "this machine");
  EXPECT_EQ(events[1].reason, "ProbeLeftOut");
}

}  // namespace
}  // namespace taas::localkube
