// That the emulator runs kernels that are right, and finds each mistake of those that are not, in
// every order of threads and blocks.

#include "trainer/cuda/emulate/emulator.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/emulate/test_kernels.h"

namespace taas::cuda::emulate {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr unsigned kThreads = 128;

std::vector<Launch> EveryOrder(unsigned blocks, unsigned threads = kThreads) {
  std::vector<Launch> launches;
  for (const Order order : {Order::kAscending, Order::kDescending}) {
    launches.push_back({.kernel = "K", .grid = {blocks, 1, 1}, .block = {threads, 1, 1},
                        .order = order});
  }
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    launches.push_back({.kernel = "K", .grid = {blocks, 1, 1}, .block = {threads, 1, 1},
                        .order = Order::kSeeded, .seed = seed});
  }
  return launches;
}

class EmulatorTest : public testing::Test {
 protected:
  // `kernel` over `count` ones, in every order, into as many sums as are given.
  void ExpectWrong(void (*kernel)(SumParams), int64_t count, unsigned blocks,
                   const std::string& text, unsigned threads = kThreads) {
    const std::vector<float> ones(static_cast<size_t>(count), 1);
    for (const Launch& launch : EveryOrder(blocks, threads)) {
      const DeviceBuffer<float> x(emulator_, "x", ones);
      const DeviceBuffer<float> sums(emulator_, "sums", ones);
      EXPECT_THAT(emulator_.Run(launch, [&] { kernel({x.data(), sums.data(), count}); }),
                  StatusIs(Code::kInvalidArgument, AllOf(HasSubstr("K: "), HasSubstr(text))));
    }
  }

  Emulator emulator_;
};

TEST_F(EmulatorTest, ThreadsOfEachBlockFillTheirElements) {
  for (const int64_t count : {1, 127, 128, 129, 1'000}) {
    const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
    for (const Launch& launch : EveryOrder(blocks)) {
      const DeviceBuffer<float> y(emulator_, "y", static_cast<size_t>(count));
      EXPECT_EQ(y.FirstUnwritten(), 0);
      EXPECT_THAT(emulator_.Run(launch, [&] { FillKernel({y.data(), count, 2.5f}); }), IsOk());
      EXPECT_EQ(y.FirstUnwritten(), -1);
      EXPECT_THAT(y.Read(), Each(2.5f));
      EXPECT_EQ(emulator_.counts(), (Counts{.written_bytes = 4 * count}));
    }
  }
}

TEST_F(EmulatorTest, WarpsAndBlocksSumTogether) {
  std::vector<float> numbers(1'000);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  for (const Launch& launch : EveryOrder(4, 256)) {
    const DeviceBuffer<float> x(emulator_, "x", numbers);
    const DeviceBuffer<float> sums(emulator_, "sums", 4);
    EXPECT_THAT(emulator_.Run(launch, [&] { BlockSum({x.data(), sums.data(), 1'000}); }), IsOk());
    EXPECT_THAT(sums.Read(), ElementsAre(32'640, 98'176, 163'712, 204'972));
    // Shared memory too: eight sums of warps, written and read, in each block.
    EXPECT_EQ(emulator_.counts(),
              (Counts{.barriers = 4, .read_bytes = 4'128, .written_bytes = 144}));
  }
}

TEST_F(EmulatorTest, AtomicsDoNotRaceAndTheOrderDoes) {
  const std::vector<float> ones(1'000, 1);
  for (const Launch& launch : EveryOrder(8)) {
    const DeviceBuffer<float> x(emulator_, "x", ones);
    const DeviceBuffer<float> sum(emulator_, "sum", std::vector<float>{0});
    EXPECT_THAT(emulator_.Run(launch, [&] { AtomicSum({x.data(), sum.data(), 1'000}); }), IsOk());
    EXPECT_THAT(sum.Read(), ElementsAre(1'000));
  }
  ExpectWrong(SumWithoutAtomic, 100, 1, " of sums, which thread ");
}

TEST_F(EmulatorTest, BarriersOfAWarpOrderItsThreads) {
  const std::vector<float> numbers = {0, 1, 2, 3};
  for (const Launch& launch : EveryOrder(1, 32)) {
    std::vector<float> from(32);
    std::iota(from.begin(), from.end(), 0.0f);
    const DeviceBuffer<float> x(emulator_, "x", from);
    const DeviceBuffer<float> y(emulator_, "y", 32);
    EXPECT_THAT(emulator_.Run(launch, [&] { SwapInWarp({x.data(), y.data(), 32}); }), IsOk());
    for (size_t i = 0; i < 32; ++i) EXPECT_EQ(y.Read()[i], from[i ^ 1]);
  }
  ExpectWrong(SwapInWarpWithoutBarrier, 32, 1, "shared memory, which ", 32);
}

TEST_F(EmulatorTest, AnElementTooManyIsFound) {
  const DeviceBuffer<float> y(emulator_, "y", 1'000);
  for (const Launch& launch : EveryOrder(8)) {
    EXPECT_THAT(
        emulator_.Run(launch, [&] { FillOneTooMany({y.data(), 1'000, 1}); }),
        StatusIs(Code::kInvalidArgument,
                 HasSubstr("thread 104 of block 7 writes 4 bytes at 4000 of y, which has 4000")));
  }
}

TEST_F(EmulatorTest, BlocksThatWriteTheSameElementAreFound) {
  const DeviceBuffer<float> y(emulator_, "y", 10);
  for (const Launch& launch : EveryOrder(2)) {
    EXPECT_THAT(emulator_.Run(launch, [&] { FillByEachBlock({y.data(), 10, 1}); }),
                StatusIs(Code::kInvalidArgument, HasSubstr("of y, which thread ")));
  }
}

TEST_F(EmulatorTest, ABarrierThatIsMissingIsFoundInEveryOrder) {
  ExpectWrong(BlockSumWithoutBarrier, 1'000, 8, "shared memory, which ");
}

TEST_F(EmulatorTest, SharedMemoryThatNobodyWroteIsFoundInEveryBlock) {
  // What the block before left there must not hide it.
  ExpectWrong(BlockSumOfUnwritten, 1'000, 8, "shared memory, which nobody has written");
}

TEST_F(EmulatorTest, ABarrierThatSomeThreadsMissIsFound) {
  ExpectWrong(BlockSumBarrierForSome, 128, 1, " waits at the barrier of line ");
  ExpectWrong(BlockSumAfterReturn, 100, 1, " has ended");
}

TEST_F(EmulatorTest, AMaskWithLanesThatDoNotComeIsFound) {
  ExpectWrong(WarpSumOfHalfTheMask, 32, 1, ", which has ended, or is none", 32);
  ExpectWrong(WarpSumWithAMaskOfHalf, 32, 1, ", which is not in the mask", 32);
}

TEST_F(EmulatorTest, BarriersOrderOnlyWhoComesToThem) {
  ExpectWrong(HandOverPastTheMask, 32, 1, "shared memory, which ", 32);
  // The other warp's readers stay, however many read after them.
  ExpectWrong(WriteWhatAnotherWarpReads, 64, 1, " of sums, which thread ", 64);
}

TEST_F(EmulatorTest, AVectorAtAnAddressThatIsNoMultipleOfItIsFound) {
  ExpectWrong(CopyMisaligned, 32, 1, "takes 16 bytes at once at 4 behind a multiple of that", 32);
}

TEST_F(EmulatorTest, AfterAMistakeTheNextRunIsAsIfThereHadBeenNone) {
  ExpectWrong(BlockSumWithoutBarrier, 1'000, 8, "shared memory");
  const DeviceBuffer<float> y(emulator_, "y", 10);
  EXPECT_THAT(emulator_.Run({.kernel = "K", .block = {32, 1, 1}},
                            [&] { FillKernel({y.data(), 10, 3}); }),
              IsOk());
  EXPECT_THAT(y.Read(), Each(3));
}

TEST_F(EmulatorTest, ALaunchThatNoGpuTakesIsRefused) {
  for (const auto& [grid, block] : std::vector<std::pair<Index, Index>>{
           {{1, 1, 1}, {0, 1, 1}}, {{1, 1, 1}, {1'025, 1, 1}}, {{1, 1, 1}, {1, 1, 65}},
           {{1, 65'536, 1}, {1, 1, 1}}, {{65'536, 65'536, 1}, {1, 1, 0}}}) {
    EXPECT_THAT(emulator_.Run({.kernel = "K", .grid = grid, .block = block}, [] {}),
                StatusIs(Code::kInvalidArgument, HasSubstr("are no launch")));
  }
}

}  // namespace
}  // namespace taas::cuda::emulate
