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

}  // namespace
}  // namespace taas
