#include "localkube/api/serve/stream_budget.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace taas::localkube {
namespace {

using Account = std::unique_ptr<StreamBudget::Account>;

class StreamBudgetTest : public testing::Test {
 protected:
  Account Open() {
    const size_t number = closed_.size();
    closed_.push_back(0);
    return budget_.Open([this, number] { ++closed_[number]; });
  }

  StreamBudget budget_{{.wait_above = 100, .stream_max = 1'000, .all_max = 3'000}};
  std::vector<int> closed_;
};

TEST_F(StreamBudgetTest, AStreamWaitsWhileItsClientHasMuchToTake) {
  const Account stream = Open();
  EXPECT_TRUE(stream->IsReady());
  EXPECT_TRUE(stream->Add(150));
  EXPECT_FALSE(stream->IsReady());
  EXPECT_FALSE(stream->Take(20)) << "130 wait still";
  EXPECT_TRUE(stream->Take(130));
  EXPECT_FALSE(stream->Take(0)) << "nobody waits any more";
  EXPECT_EQ(budget_.held_bytes(), 0u);
}

TEST_F(StreamBudgetTest, AStreamThatHoldsTooMuchIsClosedOnce) {
  const Account stream = Open();
  EXPECT_FALSE(stream->Add(1'001));
  EXPECT_FALSE(stream->Add(1'001));
  EXPECT_EQ(closed_, std::vector<int>{1});
  EXPECT_EQ(budget_.held_bytes(), 0u);
}

// Sixty watches that were not read held 16 MB each: a gigabyte, of one object of 1 MB.
TEST_F(StreamBudgetTest, BeyondTheCommonBoundTheOneThatHasNotReadForLongestGoes) {
  std::vector<Account> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(Open());
  for (const Account& stream : streams) EXPECT_TRUE(stream->Add(700));
  streams[0]->Take(600);  // It reads; the second does not.
  EXPECT_TRUE(streams[0]->Add(700));
  EXPECT_TRUE(streams[3]->Add(200));
  EXPECT_EQ(closed_, (std::vector<int>{0, 1, 0, 0}));
  EXPECT_FALSE(streams[1]->Add(1));
  EXPECT_EQ(budget_.held_bytes(), 2'400u);
  streams.clear();
  EXPECT_EQ(budget_.held_bytes(), 0u);
}

}  // namespace
}  // namespace taas::localkube
