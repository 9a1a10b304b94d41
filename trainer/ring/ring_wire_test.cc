#include "trainer/ring/ring_wire.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

const Standing kStanding{.step = 7, .committed = CommittedSet(20, {25, 23}), .made_in = 4};

TEST(RingWireTest, WhereARankStandsComesAsItWasSent) {
  for (const Standing& sent : {kStanding, Standing()}) {
    const auto came = FromWire(ToWire(sent));
    ASSERT_THAT(came, IsOk());
    EXPECT_EQ(*came, sent);
  }
}

TEST(RingWireTest, AnEpochComesAsItWasSent) {
  const Epoch sent{.number = 5,
                   .rank = 1,
                   .addresses = {"a:1", "b:2", "c:3"},
                   .start = kStanding,
                   .root = 2,
                   .receivers = {0, 1}};
  const auto came = FromWire(ToWire(sent));
  ASSERT_THAT(came, IsOk());
  EXPECT_EQ(came->number, sent.number);
  EXPECT_EQ(came->rank, sent.rank);
  EXPECT_EQ(came->addresses, sent.addresses);
  EXPECT_EQ(came->start, sent.start);
  EXPECT_EQ(came->root, sent.root);
  EXPECT_EQ(came->receivers, sent.receivers);
}

TEST(RingWireTest, NumbersThatCannotBeAreRefused) {
  wire::RingStanding standing = ToWire(kStanding);
  standing.set_step(-2);
  EXPECT_FALSE(FromWire(standing).ok());
  wire::RingEpoch epoch = ToWire(Epoch{.number = 5, .addresses = {"a:1"}});
  epoch.add_receivers(1);
  EXPECT_FALSE(FromWire(epoch).ok());
}

}  // namespace
}  // namespace taas
