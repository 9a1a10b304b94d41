#include "operator/base/plain_name.h"

#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(PlainNameTest, NamesOfFilesAreAndWhatLeadsElsewhereOrNeedsEscapesIsNot) {
  for (const char* name : {".", "eval", "events.out.tfevents.1.host-0_a", "Z9"}) {
    EXPECT_TRUE(IsPlainName(name)) << name;
  }
  for (const char* name : {"", "..", "a/b", "/", "a b", "a%2e", "a&b", "a?b", "ä"}) {
    EXPECT_FALSE(IsPlainName(name)) << name;
  }
  EXPECT_TRUE(IsPlainName(std::string(kPlainNameMax, 'a')));
  EXPECT_FALSE(IsPlainName(std::string(kPlainNameMax + 1, 'a')));
}

}  // namespace
}  // namespace taas
