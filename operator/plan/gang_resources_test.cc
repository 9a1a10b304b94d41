#include "operator/plan/gang_resources.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

PodSpec Own(const std::string& spec) {
  PodSpec pod;
  pod.bundled_trainer = false;
  pod.gpu_resource = "nvidia.com/gpu";
  pod.user.pod_template = R"({"spec":)" + spec + "}";
  pod.user.container = 0;
  return pod;
}

TEST(GangResourcesTest, RequestsOfAllContainersOfAllPodsAreAddedUp) {
  const PodSpec ps = Own(R"({"containers":[
      {"name":"trainer","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},
      {"name":"log","resources":{"requests":{"cpu":1}}}]})");
  const PodSpec worker = Own(R"({"containers":[
      {"name":"trainer","resources":{"requests":{"cpu":2},"limits":{"cpu":4,"memory":"2Gi"}}}]})");
  EXPECT_EQ(GangResources({{ps, 1}, {worker, 3}}), R"({"cpu":"7500m","memory":"7516192768"})");
}

TEST(GangResourcesTest, GpusAndResourcesOfTheRoleAreThoseOfTheContainerThatIsAdded) {
  PodSpec pod;
  pod.gpu_resource = "nvidia.com/gpu";
  pod.user.gpus = 2;
  pod.user.resources = R"({"requests":{"cpu":"1"}})";
  EXPECT_EQ(GangResources({{pod, 4}}), R"({"cpu":"4","nvidia.com/gpu":"8"})");
}

TEST(GangResourcesTest, OfContainersThatRunBeforeTheOthersTheLargestCountsUnlessTheyStay) {
  const PodSpec pod = Own(R"({"containers":[{"name":"a","resources":{"requests":{"cpu":1}}}],
      "initContainers":[
        {"name":"b","resources":{"requests":{"cpu":3}}},
        {"name":"c","resources":{"requests":{"cpu":2}}},
        {"name":"d","restartPolicy":"Always","resources":{"requests":{"memory":"1Ki"}}}]})");
  EXPECT_EQ(GangResources({{pod, 2}}), R"({"cpu":"6","memory":"2048"})");
}

TEST(GangResourcesTest, PodsThatAskForNothingOrCannotBeReadCountAsNothing) {
  EXPECT_EQ(GangResources({{Own(R"({"containers":[{"name":"a"}]})"), 2}}), "");
  EXPECT_EQ(GangResources({{Own("7"), 2}}), "");
  PodSpec broken = Own(R"({"containers":[{"name":"a"}]})");
  broken.user.resources = "{";
  EXPECT_EQ(GangResources({{broken, 2}}), "");
  const PodSpec odd = Own(R"({"containers":[{"name":"a","resources":{"requests":{
      "cpu":"much","memory":"1Mi"}}}]})");
  EXPECT_EQ(GangResources({{odd, 1}}), R"({"memory":"1048576"})");
}

}  // namespace
}  // namespace taas
