#include "trainer/ring/epoch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace taas {
namespace {

Standing At(int64_t step) { return {step, CommittedSet(2 * step, {})}; }

TEST(EpochTest, WhereNobodyHasAModelAllBeginWithTheSeeds) {
  const std::vector<Epoch> epochs = FormEpoch(1, {{"a:1", {}}, {"b:2", {}}});
  ASSERT_EQ(epochs.size(), 2U);
  for (int rank = 0; rank < 2; ++rank) {
    const Epoch& epoch = epochs[static_cast<size_t>(rank)];
    EXPECT_EQ(epoch.number, 1U);
    EXPECT_EQ(epoch.rank, rank);
    EXPECT_EQ(epoch.addresses, (std::vector<std::string>{"a:1", "b:2"}));
    EXPECT_EQ(epoch.start, (Standing{kUntrained, {}}));
    EXPECT_TRUE(epoch.receivers.empty());
  }
}

TEST(EpochTest, TheMostAdvancedGivesItsModelToAllWhoStandElsewhere) {
  const std::vector<Epoch> epochs =
      FormEpoch(7, {{"a:1", At(16)}, {"b:2", At(17)}, {"c:3", {}}, {"d:4", At(17)}});
  for (const Epoch& epoch : epochs) {
    EXPECT_EQ(epoch.start, At(17));
    EXPECT_EQ(epoch.root, 1);
    EXPECT_EQ(epoch.receivers, (std::vector<int>{0, 2}));
  }
}

TEST(EpochTest, WhereAllStandAlikeNobodyIsGivenAnything) {
  EXPECT_TRUE(FormEpoch(2, {{"a:1", At(5)}, {"b:2", At(5)}})[0].receivers.empty());
}

// A model that others trained otherwise is not the same, though it has as many steps.
TEST(EpochTest, OneOfOtherBatchesIsGivenTheModelToo) {
  const Standing other{5, CommittedSet(11, {})};
  const std::vector<Epoch> epochs = FormEpoch(2, {{"a:1", At(5)}, {"b:2", other}});
  EXPECT_EQ(epochs[0].root, 0);
  EXPECT_EQ(epochs[0].receivers, std::vector<int>{1});
}

// A rank that nobody reached while a chief without checkpoint came and trained with others had,
// when it came back, made as many steps of as many batches, in other portions, and kept its model:
// ranks of one epoch had different bits from then on, and no sum told.
TEST(EpochTest, OneWhoseLastStepWasMadeInAnotherEpochIsGivenTheModel) {
  Standing here = At(5), there = At(5);
  here.made_in = 8;
  there.made_in = 3;
  const std::vector<Epoch> epochs = FormEpoch(9, {{"a:1", here}, {"b:2", there}, {"c:3", here}});
  EXPECT_EQ(epochs[0].start, here);
  EXPECT_EQ(epochs[0].receivers, std::vector<int>{1});
}

}  // namespace
}  // namespace taas
