#include "operator/kube/log_container.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LogContainerTest, TheContainerThatTrainsIsFoundAmongOthers) {
  const auto names = ContainerNames(
      R"({"spec":{"containers":[{"name":"istio-proxy"},{"name":"trainer"},
                                {"name":"tensorflow"}]}})");
  EXPECT_THAT(names, ElementsAre("istio-proxy", "trainer", "tensorflow"));
  EXPECT_EQ(LogContainer(names, JobKind::kTrainingJob), "trainer");
  EXPECT_EQ(LogContainer(names, JobKind::kTfJob), "tensorflow");
  EXPECT_EQ(LogContainer({"main", "other"}, JobKind::kTfJob), "main");
  EXPECT_EQ(LogContainer({}, JobKind::kTfJob), "");
}

TEST(LogContainerTest, WhatIsNoPodHasNoContainers) {
  for (const char* text : {"", "[]", "null", "{", R"({"spec":1})", R"({"spec":{"containers":{}}})",
                           R"({"spec":{"containers":[1,{"name":2},{}]}})"}) {
    EXPECT_THAT(ContainerNames(text), IsEmpty()) << text;
  }
}

// Symptom: of a pod whose init container had failed, or went on failing, `taas logs` said 400.
TEST(LogContainerTest, UntilAnInitContainerHasDoneItsWorkItsLogIsThePods) {
  const std::vector<std::string> names = {"proxy", "trainer"};
  Pod pod;
  EXPECT_FALSE(MayHaveLog(pod));
  EXPECT_EQ(LogContainerOf(pod, names, JobKind::kTrainingJob), "trainer");
  pod.init = std::make_shared<InitContainer>(InitContainer{.name = "fetch"});
  EXPECT_FALSE(MayHaveLog(pod)) << "it has not begun";
  EXPECT_EQ(LogContainerOf(pod, names, JobKind::kTrainingJob), "trainer");
  for (const InitContainer& init : {InitContainer{.name = "fetch", .running = true},
                                    InitContainer{.name = "fetch", .exit_code = 4},
                                    InitContainer{.name = "fetch", .last_exit_code = 4}}) {
    pod.init = std::make_shared<InitContainer>(init);
    EXPECT_TRUE(MayHaveLog(pod));
    EXPECT_EQ(LogContainerOf(pod, names, JobKind::kTrainingJob), "fetch");
  }
  pod.init = nullptr;
  pod.phase = PodPhase::kRunning;
  EXPECT_TRUE(MayHaveLog(pod));
  EXPECT_EQ(LogContainerOf(pod, names, JobKind::kTrainingJob), "trainer");
}

}  // namespace
}  // namespace taas
