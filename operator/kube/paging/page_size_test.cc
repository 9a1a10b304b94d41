#include "operator/kube/paging/page_size.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(PageSizeTest, HalvesDownToOneAndSaysWhenThereIsNothingShorter) {
  PageSize size(500);
  int halvings = 0;
  while (size.Shrink()) ++halvings;
  EXPECT_EQ(size.limit(), 1);
  EXPECT_EQ(halvings, 8);
}

TEST(PageSizeTest, GrowsAgainWhileThePagesAreShortAndNotBeyondWhereItBegan) {
  PageSize size(500);
  while (size.Shrink()) {
  }
  size.Read(kPageBytesMax);
  EXPECT_EQ(size.limit(), 1);
  size.Read(1000);
  EXPECT_EQ(size.limit(), 2);
  for (int i = 0; i < 20; ++i) size.Read(1000);
  EXPECT_EQ(size.limit(), 500);
}

}  // namespace
}  // namespace taas
