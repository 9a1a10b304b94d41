#include "localkube/node/gpu_slots.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

Json Wanting(const std::string& name, const Json& gpus) {
  return {{"name", name}, {"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}}};
}

TEST(GpuSlotsTest, ContainersTakeThemInTheManifestsOrder) {
  const Json pod = {{"spec",
                     {{"containers", {Wanting("one", "1"), {{"name", "none"}}, Wanting("two", 2),
                                      Wanting("more", "5")}}}}};
  const std::vector<int> slots = {1, 3, 4};
  EXPECT_THAT(ContainerSlots(pod, "one", slots), ElementsAre(1));
  EXPECT_THAT(ContainerSlots(pod, "none", slots), IsEmpty());
  EXPECT_THAT(ContainerSlots(pod, "two", slots), ElementsAre(3, 4));
  EXPECT_THAT(ContainerSlots(pod, "more", slots), IsEmpty()) << "the pod has no more";
  EXPECT_THAT(ContainerSlots(pod, "nobody", slots), IsEmpty());
}

TEST(GpuSlotsTest, InitContainersUseThoseThatTheOthersWillHave) {
  const Json pod = {{"spec",
                     {{"initContainers", {Wanting("a", "1"), Wanting("b", "2")}},
                      {"containers", {Wanting("c", "2")}}}}};
  EXPECT_THAT(ContainerSlots(pod, "a", {5, 6}), ElementsAre(5));
  EXPECT_THAT(ContainerSlots(pod, "b", {5, 6}), ElementsAre(5, 6));
  EXPECT_THAT(ContainerSlots(pod, "c", {5, 6}), ElementsAre(5, 6));
}

TEST(GpuSlotsTest, AnOddPodHasNone) {
  EXPECT_THAT(ContainerSlots(Json("odd"), "c", {0}), IsEmpty());
  const Json pod = {{"spec", {{"containers", {Wanting("c", "-3"), Wanting("d", "x")}}}}};
  EXPECT_THAT(ContainerSlots(pod, "c", {0}), IsEmpty());
  EXPECT_THAT(ContainerSlots(pod, "d", {0}), IsEmpty());
}

}  // namespace
}  // namespace taas::localkube
