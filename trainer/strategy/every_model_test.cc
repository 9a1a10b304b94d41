// Models of each kind under each strategy, a few steps of each, over loopback in this process: by
// towers, and through two parameter servers in both modes. What one process computes alone is what
// the others are held against.

#include "gtest/gtest.h"
#include "trainer/testing/every_model.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using EveryModelTest = EveryModel;

TEST_P(EveryModelTest, TwoTowersTrainAsOneProcessDoesWithTwiceTheBatch) {
  const Losses towers =
      InOneProcess(Config(kTwoTowers, kModelBatch / 2));
  ExpectFall(towers);
  if (GetParam().normalizes_batches) return;
  ExpectNear(towers, InOneProcess(Config(kLocal)));
}

TEST_P(EveryModelTest, OneReplicaInStepTrainsAsOneProcessDoes) {
  const Losses alone = InOneProcess(Config(kLocal));
  ExpectFall(alone);
  ExpectNear(ByParameterServers(Config(kInStep), 0),
             alone);
}

TEST_P(EveryModelTest, TwoReplicasInStepTrainIt) {
  ExpectFall(ByParameterServers(Config(kInStep), 1));
}

TEST_P(EveryModelTest, TwoReplicasOutOfStepTrainIt) {
  ByParameterServers(Config(kOutOfStep), 1);
  ExpectFall(in_time_);
}

// Whose memory the host does not see, and which computes when somebody waits.
TEST_P(EveryModelTest, AFarDeviceComesToTheSameBits) {
  const TrainerConfig alone = Config(kLocal);
  TrainerConfig side_by_side = alone;
  side_by_side.engine.inter_op_threads = 2;
  const TrainerConfig towers = Config(kTwoTowers, kModelBatch / 2);
  const Losses near_alone = InOneProcess(alone), near_towers = InOneProcess(towers);
  const Losses near_in_step = ByParameterServers(Config(kInStep), 0);
  runtime_ = FarRuntime;
  EXPECT_EQ(InOneProcess(alone), near_alone);
  EXPECT_EQ(InOneProcess(side_by_side), near_alone);
  EXPECT_EQ(InOneProcess(towers), near_towers);
  EXPECT_EQ(ByParameterServers(Config(kInStep), 0), near_in_step);
  ByParameterServers(Config(kOutOfStep), 1);
  ExpectFall(in_time_);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModelTest, testing::ValuesIn(EveryModelCase()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
