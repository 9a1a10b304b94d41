#include "trainer/graph/memory_uses.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/short_text.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr MemorySizes kSizes{.elements = 1'100,
                             .trained_elements = 1'000,
                             .gradients = true,
                             .slots = 2,
                             .arena_bytes = 7'000,
                             .input_bytes = 300,
                             .other_bytes = 20,
                             .pinned_bytes = 600};

TEST(MemoryUsesTest, APlanHasASlotOfEachTrainedElementAndNoGradientsWhereNothingIsTrained) {
  MemoryUses trained = PlanUses(kSizes);
  EXPECT_EQ(trained[MemoryUse::kVariables], 4'400u);
  EXPECT_EQ(trained[MemoryUse::kSlots], 8'000u);
  EXPECT_EQ(trained[MemoryUse::kGradients], 4'000u);
  EXPECT_EQ(trained.of_device(), 4'400u + 8'000 + 4'000 + 7'000 + 300 + 20);
  MemorySizes sizes = kSizes;
  sizes.gradients = false;
  EXPECT_EQ(PlanUses(sizes)[MemoryUse::kGradients], 0u);
}

TEST(MemoryUsesTest, UsesOfSeveralSessionsAddUp) {
  MemoryUses both = PlanUses(kSizes);
  MemoryUses work;
  work[MemoryUse::kWorkspaces] = 50;
  both += work;
  both += PlanUses(kSizes);
  EXPECT_EQ(both.of_device(), 2 * PlanUses(kSizes).of_device() + 50);
  EXPECT_EQ(both[MemoryUse::kPinned], 1'200u);
}

TEST(MemoryUsesTest, MemoryThatIsNotThereIsToldWithItsUseAndWhatNeedsLess) {
  constexpr size_t kTooMuch = size_t{1} << 62;
  Device& device = *CpuRuntime().devices[0];
  EXPECT_THAT(AllocateFor(device, MemoryUse::kActivations, kTooMuch),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("activations: no memory for 4.61e+06 TB"),
                             HasSubstr("batchSize"))));
  EXPECT_THAT(AllocateFor(device, MemoryUse::kSlots, kTooMuch),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("slots: no memory for "), HasSubstr("sgd"))));
  EXPECT_THAT(AllocateFor(device, MemoryUse::kSlots, 8), IsOk());
}

TEST(ShortTextTest, HasThreeDigits) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(1'234'567), "1.23 MB");
  EXPECT_EQ(BytesText(size_t{200} << 30), "215 GB");
  EXPECT_EQ(ShortText(12'340), "12.3 k");
}

}  // namespace
}  // namespace taas
