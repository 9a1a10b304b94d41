#include "trainer/graph/memory_conflicts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Steps = std::vector<std::vector<MemoryAccess>>;

MemoryAccess Read(size_t begin, size_t end, int space = 0) { return {space, begin, end, false}; }
MemoryAccess Write(size_t begin, size_t end, int space = 0) { return {space, begin, end, true}; }

TEST(MemoryConflictsTest, AReaderWaitsForTheWriter) {
  const StepOrder order = OrderOf(Steps{{Write(0, 64)}, {Read(0, 64), Write(64, 128)}});
  EXPECT_THAT(order.followers[0], ElementsAre(1));
  EXPECT_THAT(order.waits, ElementsAre(0, 1));
}

TEST(MemoryConflictsTest, ReadersOfOneBufferWaitForNobody) {
  const StepOrder order =
      OrderOf(Steps{{Read(0, 64), Write(64, 128)}, {Read(0, 64), Write(128, 192)}});
  EXPECT_THAT(order.waits, ElementsAre(0, 0));
}

TEST(MemoryConflictsTest, TheNextOwnerOfABufferWaitsForItsReaders) {
  const StepOrder order = OrderOf(Steps{{Write(0, 64)},
                                        {Read(0, 64), Write(64, 128)},
                                        {Read(0, 64), Write(128, 192)},
                                        {Write(32, 40)}});
  EXPECT_THAT(order.followers[1], ElementsAre(3));
  EXPECT_THAT(order.followers[2], ElementsAre(3));
  EXPECT_EQ(order.waits[3], 2);  // And for the writer through them.
}

TEST(MemoryConflictsTest, SpacesAndNeighboursDoNotTouch) {
  const StepOrder order =
      OrderOf(Steps{{Write(0, 64)}, {Write(64, 128)}, {Write(0, 64, 1)}, {Write(10, 10)}});
  EXPECT_THAT(order.waits, ElementsAre(0, 0, 0, 0));
  for (const std::vector<int>& followers : order.followers) EXPECT_THAT(followers, IsEmpty());
}

}  // namespace
}  // namespace taas
