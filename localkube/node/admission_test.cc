#include "localkube/node/admission.h"

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

constexpr Resources kNode{.cpu_milli = 4000, .memory_bytes = 1000, .gpus = 2};

struct Case {
  const char* name;
  Resources wanted;
  const char* reason;  // "": taken.
  const char* message;
};
class AdmissionTest : public testing::TestWithParam<Case> {};
TEST_P(AdmissionTest, APodIsTakenIfWhatIsLeftIsEnough) {
  const std::vector<Resources> others = {{.cpu_milli = 1000, .memory_bytes = 400},
                                         {.cpu_milli = 500, .memory_bytes = 200, .gpus = 1}};
  const auto refusal = Admit(GetParam().wanted, others, kNode);
  EXPECT_EQ(refusal.has_value() ? refusal->reason : "", GetParam().reason);
  if (refusal.has_value()) {
    EXPECT_EQ(refusal->message, std::string("Node didn't have enough resource: ") +
                                    GetParam().message);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Table, AdmissionTest,
    testing::Values(
        Case{"Nothing", {}, "", ""},
        Case{"AllThatIsLeft", {.cpu_milli = 2500, .memory_bytes = 400, .gpus = 1}, "", ""},
        Case{"Cpu", {.cpu_milli = 2501}, "OutOfcpu",
             "cpu, requested: 2501, used: 1500, capacity: 4000"},
        Case{"Memory", {.memory_bytes = 401}, "OutOfmemory",
             "memory, requested: 401, used: 600, capacity: 1000"},
        Case{"Gpus", {.gpus = 2}, "OutOfnvidia.com/gpu",
             "nvidia.com/gpu, requested: 2, used: 1, capacity: 2"},
        Case{"CpuBeforeMemory", {.cpu_milli = 9000, .memory_bytes = 9000}, "OutOfcpu",
             "cpu, requested: 9000, used: 1500, capacity: 4000"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(AdmissionTest, ANodeThatIsTooFullTakesWhoAsksForNothing) {
  EXPECT_FALSE(Admit({}, {{.cpu_milli = 9000, .memory_bytes = 9000}}, kNode).has_value());
}

TEST(AdmissionTest, ANodeHasPlaceForSoManyPods) {
  const std::vector<Resources> others(kPodsPerNodeMax);
  EXPECT_EQ(Admit({}, others, kNode)->reason, "OutOfpods");
}

TEST(AdmissionTest, ARefusedPodHasFailedAndNoContainers) {
  const nlohmann::json pod = {
      {"status",
       {{"phase", "Pending"},
        {"qosClass", "Burstable"},
        {"containerStatuses", nlohmann::json::array({{{"name", "c"}}})}}}};
  const auto status = nlohmann::json::parse(
      RefusedStatus(pod, {.reason = "OutOfcpu", .message = "no room"}, "2026-01-01T00:00:00Z"));
  EXPECT_EQ(status, (nlohmann::json{{"phase", "Failed"},
                                    {"reason", "OutOfcpu"},
                                    {"message", "Pod was rejected: no room"},
                                    {"qosClass", "Burstable"},
                                    {"startTime", "2026-01-01T00:00:00Z"}}));
}

}  // namespace
}  // namespace taas::localkube
