// Lookups in a table and the gradients of it against their twins on the processor, to the bit: ids
// that come once or often, more than a tile that is sorted, several lookups, and ids that there are
// none of.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

constexpr int64_t kRows = 11;

HostTensor Ids(const std::vector<int64_t>& ids) {
  return TensorOf(DType::kInt64, Shape({static_cast<int64_t>(ids.size())}), ids);
}
HostTensor RandomIds(int64_t count, uint64_t seed, int64_t rows = kRows) {
  return RandomIntegers(DType::kInt64, Shape({count}), seed, rows);
}

OpCase Looked(HostTensor ids, int64_t width) {
  return {.op = "Embedding", .inputs = {RandomFloats(Shape({kRows, width}), 1), std::move(ids)}};
}

OpCase Grad(HostTensor ids, int64_t width, int64_t rows = kRows) {
  const int64_t count = ids.type.shape.dim(0);
  return {.op = "EmbeddingGrad",
          .inputs = {RandomFloats(Shape({count, width}), 1), std::move(ids)},
          .attributes = {{"rows", rows}}};
}

// After a step that has listed `listed`.
OpCase RowsGrad(const std::vector<HostTensor>& lookups, int64_t width, int64_t rows = kRows,
                const std::vector<int32_t>& listed = {}) {
  OpCase of{.op = "EmbeddingRowsGrad", .inputs = {}, .attributes = {{"rows", rows}}};
  int64_t ids = 0;
  for (const HostTensor& lookup : lookups) {
    const int64_t count = lookup.type.shape.dim(0);
    of.inputs.push_back(RandomFloats(Shape({count, width}), static_cast<uint64_t>(ids)));
    of.inputs.push_back(lookup);
    ids += count;
  }
  std::vector<float> table(static_cast<size_t>(rows * width), 0);
  for (const int32_t row : listed) {
    for (int64_t c = 0; c < width; ++c) table[static_cast<size_t>(row * width + c)] = 5;
  }
  std::vector<int32_t> room(static_cast<size_t>(std::min(ids, rows)), -1);
  std::ranges::copy(listed, room.begin());
  of.before = {Floats(Shape({rows, width}), table),
               TensorOf(DType::kInt32, Shape({std::ssize(room)}), room),
               TensorOf(DType::kInt32, Shape({1}),
                        std::vector<int32_t>{static_cast<int32_t>(listed.size())})};
  return of;
}

TEST(EmbeddingTest, IsItsTwin) {
  for (const int64_t count : {0, 1, 8, 9}) {
    for (const int64_t width : {1, 31, 32, 33, 132}) {
      ExpectTwin(Looked(RandomIds(count, 2), width));
    }
  }
  OpCase behind = Looked(RandomIds(9, 2), 8);
  behind.behind = 8;
  ExpectTwin(behind);
}

TEST(EmbeddingTest, ReportsTheFirstIdThatTheTableHasNot) {
  for (const std::vector<int64_t>& ids : std::vector<std::vector<int64_t>>{
           {3, 11, 0, -1}, {3, -7, 0, 12}, {0, 1, 2, int64_t{1} << 40}}) {
    for (OpCase of : {Looked(Ids(ids), 5), Grad(Ids(ids), 5), RowsGrad({Ids({4}), Ids(ids)}, 5)}) {
      of.wrong_data = true;
      of.index = 3;
      ExpectTwin(of);
    }
  }
  OpCase several = RowsGrad({Ids({4}), Ids({0, 99}), Ids({-1})}, 2);
  several.wrong_data = true;
  ExpectTwin(several);
}

TEST(EmbeddingGradTest, IsItsTwin) {
  for (const int64_t count : {0, 1, 33}) {
    for (const int64_t width : {1, 33, 132}) ExpectTwin(Grad(RandomIds(count, 2), width));
  }
  OpCase behind = Grad(RandomIds(9, 2), 8);
  behind.behind = 8;
  ExpectTwin(behind);
}

TEST(EmbeddingGradTest, OfMoreIdsThanATile) {
  for (const int64_t count : {256, 257, 700}) {
    OpCase of = Grad(RandomIds(count, 2, count), 1, count);
    of.orders = 3;
    ExpectTwin(of);
  }
  // A row that is all of a tile, so that none begins there.
  OpCase one = Grad(Ids(std::vector<int64_t>(600, 4)), 1);
  one.orders = 3;
  ExpectTwin(one);
}

TEST(EmbeddingRowsGradTest, IsItsTwin) {
  ExpectTwin(RowsGrad({RandomIds(0, 2)}, 5));
  ExpectTwin(RowsGrad({Ids({4})}, 5, kRows, {7}));
  ExpectTwin(RowsGrad({RandomIds(9, 2)}, 33, kRows, {0, 4, 10}));
  ExpectTwin(RowsGrad({RandomIds(40, 2)}, 5, kRows, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(EmbeddingRowsGradTest, AddsUpSeveralLookupsInTheirOrder) {
  ExpectTwin(RowsGrad({RandomIds(5, 2), RandomIds(0, 3), RandomIds(7, 4), RandomIds(1, 5)}, 3,
                      kRows, {2, 3}));
  OpCase of = RowsGrad({RandomIds(200, 2, 90), RandomIds(300, 3, 90)}, 1, 90, {5, 80});
  of.orders = 3;
  ExpectTwin(of);
}

// After a step with a fault the list is again that of the rows that may not be zero.
TEST(EmbeddingRowsGradTest, ListsTheRowsItHasOfIdsThatAreNone) {
  OpCase of = RowsGrad({Ids({4, 99, 2, -1, 4})}, 1, kRows, {7});
  const std::vector<HostTensor> outputs = OnGpu(of);
  const std::span<const float> dy = of.inputs[0].As<float>();
  const std::vector<float> wanted = {0, 0, dy[2], 0, dy[0] + dy[4], 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::vector<float>(outputs[0].As<float>().begin(), outputs[0].As<float>().end()),
            wanted);
  EXPECT_EQ(outputs[1].As<int32_t>()[0], 2);
  EXPECT_EQ(outputs[1].As<int32_t>()[1], 4);
  EXPECT_EQ(outputs[2].As<int32_t>()[0], 2);
}

TEST(EmbeddingGradTest, SortsAndAddsInOneLaunchEach) {
  EXPECT_EQ(CostsOf(Looked(RandomIds(16, 2), 32)),
            (OpCosts{.launches = 1, .barriers = 2, .read_bytes = 6'280, .written_bytes = 2'056}));
  EXPECT_EQ(CostsOf(RowsGrad({RandomIds(300, 2)}, 4)).launches, 6);
}

}  // namespace
}  // namespace taas::cuda
