// OneHot against its twin on the processor; every load and store is watched.

#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

OpCase OneHot(const HostTensor& ids, int64_t size) {
  return {.op = "OneHot", .inputs = {ids}, .attributes = {{"size", size}}};
}

TEST(OneHotTest, EachIdIsARowWithAOne) {
  struct Case {
    std::vector<int64_t> ids;
    int64_t size;
  };
  for (const Case& of : std::vector<Case>{{{0}, 5},
                                          {{1}, 1},
                                          {{33}, 1},
                                          {{7}, 31},
                                          {{9}, 32},
                                          {{5}, 33},
                                          {{3, 2}, 4},
                                          {{2, 2}, 257},
                                          {{300}, 10}}) {
    OpCase one_hot = OneHot(RandomIntegers(DType::kInt64, Shape(of.ids), 1, of.size), of.size);
    ExpectTwin(one_hot);
    one_hot.behind = 8;
    ExpectTwin(one_hot);
  }
}

TEST(OneHotTest, TheFirstIdThatIsNoneIsReported) {
  const auto ids = [](const std::vector<int64_t>& values) {
    return TensorOf(DType::kInt64, Shape({static_cast<int64_t>(values.size())}), values);
  };
  for (const HostTensor& wrong :
       {ids({5}), ids({0, 4, 5, -1}), ids({0, 1, -1, 9, 4}), ids({0, int64_t{1} << 40, -1})}) {
    OpCase one_hot = OneHot(wrong, 5);
    one_hot.wrong_data = true;
    one_hot.index = 3;
    ExpectTwin(one_hot);
  }
  // By a thread's second round.
  std::vector<int64_t> many(600, 0);
  many[300] = many[599] = many[513] = -7;
  OpCase one_hot = OneHot(ids(many), 2);
  one_hot.wrong_data = true;
  for (const int32_t index : {2, 8}) {  // The first of two kernels that find something.
    one_hot.index = index;
    one_hot.block.fault = {.kernel = 5, .kind = Fault::Kind::kLabel, .at = 9, .bound = 3};
    ExpectTwin(one_hot);
  }
}

TEST(OneHotTest, EachElementIsWrittenOnce) {
  // An id is read by each thread with elements of its row, and by the block that looks at all,
  // which has a place in shared memory for the first that is none.
  const OpCase of = OneHot(RandomIntegers(DType::kInt64, Shape({10}), 1, 100), 100);
  EXPECT_EQ(CostsOf(of), (OpCosts{.launches = 1,
                                  .barriers = 2,
                                  .read_bytes = 250 * 8 + 10 * 8 + 8,
                                  .written_bytes = 4'000 + 8}));
}

}  // namespace
}  // namespace taas::cuda
