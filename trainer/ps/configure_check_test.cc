#include "trainer/ps/configure_check.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas::ps {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

wire::ConfigureRequest Request(const std::vector<int64_t>& pieces) {
  wire::ConfigureRequest request;
  request.set_generation(1);
  request.add_shards("127.0.0.1:1");
  request.set_max_steps(1000);
  for (const int64_t count : pieces) request.add_pieces()->set_count(count);
  return request;
}

void ExpectRefused(const wire::ConfigureRequest& request, uint64_t bytes, const char* why) {
  EXPECT_THAT(CheckConfigure(request, 0, bytes),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
}

TEST(ConfigureCheckTest, SizesAreThoseOfValuesAndSlots) {
  EXPECT_THAT(CheckConfigure(Request({3, 4}), 0, 28), IsOk());
  EXPECT_THAT(CheckConfigure(Request({3, 4}), 2, 84), IsOk());
  EXPECT_THAT(CheckConfigure(Request({}), 2, 0), IsOk());
  ExpectRefused(Request({3, 4}), 24, "24 bytes of values for 7 elements");
}

// Symptom: a parameter server ended with a segmentation fault, and the job with it, when a stranger
// sent it sizes whose sum is 0 modulo 2^64, or 2^62 elements whose bytes are.
TEST(ConfigureCheckTest, SizesWhoseSumOrBytesDoNotFitIntoANumberAreRefused) {
  for (const std::vector<int64_t>& pieces : {std::vector<int64_t>{kMost, kMost, 2},
                                             {int64_t{1} << 62},
                                             {int64_t{1} << 61, int64_t{1} << 61},
                                             {kShardElementsMax, 1},
                                             {kMost}}) {
    ExpectRefused(Request(pieces), 0, "more than");
  }
  EXPECT_THAT(CheckConfigure(Request({kShardElementsMax}), 0, comm::kPayloadBytesMax), IsOk());
}

TEST(ConfigureCheckTest, MomentsAreTheLastPiecesAndKeepAPartOfThemselves) {
  wire::ConfigureRequest request = Request({3, 4});
  request.mutable_pieces(1)->set_decay(0.5f);
  EXPECT_THAT(CheckConfigure(request, 0, 28), IsOk());
  for (const float decay : {-0.5f, 1.5f, std::numeric_limits<float>::quiet_NaN()}) {
    request.mutable_pieces(1)->set_decay(decay);
    ExpectRefused(request, 28, "moments");
  }
  request.mutable_pieces(1)->clear_decay();
  request.mutable_pieces(0)->set_decay(0.5f);
  ExpectRefused(request, 28, "moments");
}

// Symptom: a generation of 2^32 + 1 was taken, and was 1 in every frame.
TEST(ConfigureCheckTest, GenerationThatFramesCannotNameIsRefused) {
  for (const int64_t generation : {int64_t{0}, int64_t{-1}, kGenerationMax + 1, kMost}) {
    wire::ConfigureRequest request = Request({});
    request.set_generation(generation);
    ExpectRefused(request, 0, "generation");
  }
  wire::ConfigureRequest request = Request({});
  request.set_generation(kGenerationMax);
  EXPECT_THAT(CheckConfigure(request, 0, 0), IsOk());
}

// Symptom: the number of batches that are left was a sum and product of foreign numbers.
TEST(ConfigureCheckTest, CountsWhoseSumDoesNotFitIntoANumberAreRefused) {
  wire::ConfigureRequest steps = Request({});
  steps.set_max_steps(kMost);
  ExpectRefused(steps, 0, "steps or batches");
  steps.set_max_steps(kBatchesMax);
  EXPECT_THAT(CheckConfigure(steps, 0, 0), IsOk());
  steps.set_aggregate(std::numeric_limits<int32_t>::max());
  ExpectRefused(steps, 0, "steps or batches");
  wire::ConfigureRequest done = Request({});
  done.mutable_committed()->set_watermark(kMost);
  ExpectRefused(done, 0, "steps or batches");
  done.mutable_committed()->set_watermark(-1);
  ExpectRefused(done, 0, "negative");
  wire::ConfigureRequest at = Request({});
  at.set_step(kMost);
  ExpectRefused(at, 0, "steps or batches");
  at.set_step(std::numeric_limits<int64_t>::min());
  ExpectRefused(at, 0, "negative");
}

}  // namespace
}  // namespace taas::ps
