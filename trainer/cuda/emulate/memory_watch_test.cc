// That what is known of a word, as long as it is touched as a whole, is known of each of its bytes.

#include "trainer/cuda/emulate/memory_watch.h"

#include <array>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::cuda::emulate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MemoryWatchTest : public testing::Test {
 protected:
  MemoryWatchTest() { Begin(/*written=*/true); }

  // A launch, of which nothing is known yet.
  void Begin(bool written) {
    watch_.Forget();
    if (added_) watch_.Remove(memory_.data());
    watch_.Add("x", memory_.data(), memory_.size(), written, /*guarded=*/false);
    added_ = true;
  }
  std::string Write(int thread, size_t at, size_t bytes, uint32_t barriers = 0) {
    return Touch(thread, at, bytes, barriers, true);
  }
  std::string Read(int thread, size_t at, size_t bytes, uint32_t barriers = 0) {
    return Touch(thread, at, bytes, barriers, false);
  }

  // Two words and a half.
  alignas(4) std::array<char, 10> memory_{};
  MemoryWatch watch_;

 private:
  std::string Touch(int thread, size_t at, size_t bytes, uint32_t barriers, bool writes) {
    const Toucher by{.block = 0, .thread = thread, .block_barriers = barriers};
    return watch_.Access(memory_.data() + at, bytes, writes, by, {});
  }
  bool added_ = false;
};

TEST_F(MemoryWatchTest, ThreadsThatWriteAByteEachOfOneWordDoNotRace) {
  for (int thread = 0; thread < 4; ++thread) {
    EXPECT_THAT(Write(thread, 4 + static_cast<size_t>(thread), 1), IsEmpty());
  }
  EXPECT_THAT(Read(9, 4, 4), HasSubstr("thread 0 of block 0 writes at the same time"));
  EXPECT_THAT(Read(9, 4, 4, /*barriers=*/1), IsEmpty());
}

TEST_F(MemoryWatchTest, AWholeWordRacesWithEachOfItsBytes) {
  for (size_t byte = 0; byte < 4; ++byte) {
    Begin(/*written=*/true);
    EXPECT_THAT(Write(0, 4, 4), IsEmpty());
    EXPECT_THAT(Read(1, 4 + byte, 1), HasSubstr("which thread 0 of block 0 writes"));
    Begin(/*written=*/true);
    EXPECT_THAT(Write(1, 4 + byte, 1), IsEmpty());
    EXPECT_THAT(Read(0, 4, 4), HasSubstr("which thread 1 of block 0 writes"));
    Begin(/*written=*/true);
    EXPECT_THAT(Read(0, 4, 4), IsEmpty());
    EXPECT_THAT(Write(1, 4 + byte, 1), HasSubstr("which thread 0 of block 0 reads"));
  }
}

TEST_F(MemoryWatchTest, AnAccessOverTheEndsOfTwoWordsIsOfBoth) {
  EXPECT_THAT(Write(0, 2, 4), IsEmpty());
  EXPECT_THAT(Read(1, 0, 2), IsEmpty());
  EXPECT_THAT(Read(1, 6, 2), IsEmpty());
  EXPECT_THAT(Read(1, 0, 4), HasSubstr("thread 0"));
  EXPECT_THAT(Read(1, 4, 4), HasSubstr("thread 0"));
  EXPECT_THAT(Read(1, 8, 2), IsEmpty());
}

TEST_F(MemoryWatchTest, AWordIsWrittenWhenEachOfItsBytesIs) {
  Begin(/*written=*/false);
  for (const size_t byte : {0u, 1u, 3u}) EXPECT_THAT(Write(0, byte, 1), IsEmpty());
  EXPECT_EQ(watch_.FirstUnwritten(memory_.data()), 2);
  EXPECT_THAT(Read(0, 0, 4), HasSubstr("which nobody has written"));
  EXPECT_FALSE(watch_.IsWritten(memory_.data(), 4));
  EXPECT_TRUE(watch_.SetWritten(memory_.data() + 2, size_t{1}));
  EXPECT_TRUE(watch_.IsWritten(memory_.data(), 4));
  EXPECT_THAT(Read(0, 0, 4), IsEmpty());
  EXPECT_EQ(watch_.FirstUnwritten(memory_.data()), 4);
  watch_.SetWritten(memory_.data(), false);
  EXPECT_FALSE(watch_.IsWritten(memory_.data() + 1, 1));
  EXPECT_THAT(Write(1, 0, 4), IsEmpty()) << "what came before is forgotten";
  EXPECT_EQ(watch_.FirstUnwritten(memory_.data()), 4);
}

// The clock of the last reader is that of its last reading.
TEST_F(MemoryWatchTest, WhoReadsTwiceIsOneReader) {
  for (int time = 0; time < 3; ++time) EXPECT_THAT(Read(0, 0, 4), IsEmpty());
  EXPECT_THAT(Read(0, 0, 4, /*barriers=*/1), IsEmpty());
  EXPECT_THAT(Write(1, 0, 4, /*barriers=*/1), HasSubstr("which thread 0 of block 0 reads"));
  EXPECT_THAT(Write(1, 0, 4, /*barriers=*/2), IsEmpty());
}

}  // namespace
}  // namespace taas::cuda::emulate
