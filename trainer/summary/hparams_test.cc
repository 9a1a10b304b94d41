#include "trainer/summary/hparams.h"

#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"
#include "trainer/summary/hparams.pb.h"

namespace taas {
namespace {

hparams::HParamsPluginData DataOf(const summary::Summary& summary) {
  EXPECT_EQ(summary.value_size(), 1);
  EXPECT_EQ(summary.value(0).metadata().plugin_data().plugin_name(), "hparams");
  hparams::HParamsPluginData data;
  EXPECT_TRUE(data.ParseFromString(summary.value(0).metadata().plugin_data().content()));
  return data;
}

TEST(HparamsTest, LeavesOfTheConfigurationAreParameters) {
  const nlohmann::json parameters = {{"model", {{"name", "mlp"}, {"hidden", {500, 100}}}},
                                     {"optimizer", {{"decay", {{"staircase", true}}}}},
                                     {"batchSize", 32}};
  const TrainingParameters what{.name = "default/mnist",
                                .parameters = &parameters,
                                .metrics = {"loss", "eval/accuracy"},
                                .started = Clock::WallTime(std::chrono::seconds(9))};
  const auto data = DataOf(HparamsExperiment(what).summary());
  const hparams::Experiment& experiment = data.experiment();
  ASSERT_EQ(experiment.hparam_infos_size(), 4);
  EXPECT_EQ(experiment.hparam_infos(0).name(), "batchSize");
  EXPECT_EQ(experiment.hparam_infos(0).type(), hparams::DATA_TYPE_FLOAT64);
  EXPECT_EQ(experiment.hparam_infos(3).name(), "optimizer.decay.staircase");
  EXPECT_EQ(experiment.hparam_infos(3).type(), hparams::DATA_TYPE_BOOL);
  ASSERT_EQ(experiment.metric_infos_size(), 2);
  EXPECT_EQ(experiment.metric_infos(1).name().group(), "eval");
  EXPECT_EQ(experiment.metric_infos(1).name().tag(), "accuracy");
  const auto start = DataOf(HparamsStart(what).summary()).session_start_info();
  EXPECT_EQ(start.hparams().at("model.hidden").string_value(), "[500,100]");
  EXPECT_EQ(start.hparams().at("batchSize").number_value(), 32);
  EXPECT_EQ(start.start_time_secs(), 9);
}

TEST(HparamsTest, TheEndSaysWhetherItWasASuccess) {
  const Clock::WallTime time(std::chrono::seconds(30));
  EXPECT_EQ(DataOf(HparamsEnd(true, time)).session_end_info().status(), hparams::STATUS_SUCCESS);
  EXPECT_EQ(DataOf(HparamsEnd(false, time)).session_end_info().status(), hparams::STATUS_FAILURE);
}

}  // namespace
}  // namespace taas
