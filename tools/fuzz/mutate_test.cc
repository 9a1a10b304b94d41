#include "tools/fuzz/mutate.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(MutateTest, ASeedGivesTheSameInputsAndTheyDiffer) {
  const std::vector<std::string> corpus{"", "hello", std::string(kFuzzBytesMax, 'x')};
  SeededRandom one(3), again(3);
  std::set<std::string> inputs;
  for (int i = 0; i < 500; ++i) {
    const std::string input = Mutate(corpus, one);
    EXPECT_EQ(input, Mutate(corpus, again));
    EXPECT_LE(input.size(), kFuzzBytesMax);
    inputs.insert(input);
  }
  EXPECT_GT(inputs.size(), 300u);
}

}  // namespace
}  // namespace taas
