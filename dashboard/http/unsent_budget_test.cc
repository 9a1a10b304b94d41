#include "dashboard/http/unsent_budget.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

class UnsentBudgetTest : public testing::Test {
 protected:
  uint64_t Open(const std::string& name) {
    return budget_.Open([this, name] { closed_.push_back(name); });
  }
  static SharedText Text(size_t bytes) { return Shared(std::string(bytes, 'x')); }

  UnsentBudget budget_{{.of_one = 100, .of_all = 250}};
  std::vector<std::string> closed_;
};

// Symptom: each stream that nobody read could keep 16 MiB, and nothing bounded all of them: eight
// followers of a long log that did not read took 500 MB, a thousand could take 16 GiB.
TEST_F(UnsentBudgetTest, WhereAllAreTooMuchTheOneThatIsMostBehindEnds) {
  const uint64_t hog = Open("hog"), other = Open("other"), third = Open("third");
  EXPECT_TRUE(budget_.Add(hog, Text(100)));
  EXPECT_TRUE(budget_.Add(other, Text(80)));
  EXPECT_TRUE(budget_.Add(third, Text(60)));
  EXPECT_TRUE(closed_.empty());
  EXPECT_TRUE(budget_.Add(third, Text(20)));
  EXPECT_EQ(closed_, std::vector<std::string>{"hog"});
  EXPECT_EQ(budget_.unsent_of_all(), 160);
  EXPECT_FALSE(budget_.Add(hog, Text(1)));
  EXPECT_EQ(budget_.unsent(hog), 0);
}

TEST_F(UnsentBudgetTest, AStreamThatIsTooFarBehindEndsWhateverTheOthersAre) {
  const uint64_t one = Open("one");
  EXPECT_TRUE(budget_.Add(one, Text(100)));
  EXPECT_FALSE(budget_.Add(one, Text(1)));
  EXPECT_EQ(closed_, std::vector<std::string>{"one"});
  EXPECT_EQ(budget_.unsent_of_all(), 0);
}

// Symptom that it prevents: all pages get the same list of jobs at once, and most of them would be
// closed for memory that nobody uses.
TEST_F(UnsentBudgetTest, ATextThatManyWaitForCountsOnce) {
  const SharedText text = Text(90);
  std::vector<uint64_t> streams;
  for (int i = 0; i < 50; ++i) {
    streams.push_back(Open("one of many"));
    EXPECT_TRUE(budget_.Add(streams.back(), text));
  }
  EXPECT_EQ(budget_.unsent_of_all(), 90);
  for (const uint64_t stream : streams) budget_.Sent(stream, 1);
  EXPECT_EQ(budget_.unsent_of_all(), 0);
  EXPECT_TRUE(closed_.empty());
}

TEST_F(UnsentBudgetTest, WhatWasSentOrGivenUpMakesRoom) {
  const uint64_t one = Open("one"), other = Open("other");
  EXPECT_TRUE(budget_.Add(one, Text(60)));
  EXPECT_TRUE(budget_.Add(one, Text(40)));
  budget_.Sent(one, 1);
  EXPECT_EQ(budget_.unsent(one), 40);
  EXPECT_TRUE(budget_.Add(one, Text(60)));
  EXPECT_TRUE(budget_.Add(other, Text(100)));
  budget_.End(one);
  budget_.End(one);
  budget_.Sent(one, 2);
  EXPECT_EQ(budget_.unsent_of_all(), 100);
  EXPECT_TRUE(closed_.empty());
}

}  // namespace
}  // namespace taas::dashboard
