#include "trainer/summary/checkpoint_weights.h"

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/checkpoint/checkpoint_list.h"
#include "trainer/summary/event_file.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CheckpointWeightsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(files_.MakeDirs(dir_), IsOk()); }

  void Save(int64_t step, const std::vector<float>& weights) {
    auto writer = BundleWriter::Open(files_, CheckpointPrefix(dir_, step));
    ASSERT_THAT(writer, IsOk());
    const std::array<int64_t, 1> at = {step};
    ASSERT_THAT((*writer)->Add(Int64Tensor("global_step", {}, at).View()), IsOk());
    const std::array<float, 1> own = {1};
    ASSERT_THAT((*writer)->Add(FloatTensor("taas/seed", {1}, own)), IsOk());
    ASSERT_THAT((*writer)->Add(FloatTensor("w", {static_cast<int64_t>(weights.size())}, weights)),
                IsOk());
    ASSERT_THAT((*writer)->Finish(), IsOk());
  }

  // What a reader of the files finds: "start 10", "10 w=3".
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    EXPECT_THAT(ReadEvents(files_, dir_ + "/events", 1 << 20,
                           [&events](const summary::Event& event) {
                             if (event.has_session_log()) {
                               events.push_back("start " + std::to_string(event.step()));
                             }
                             for (const auto& value : event.summary().value()) {
                               events.push_back(std::to_string(event.step()) + " " + value.tag() +
                                                "=" + std::to_string(static_cast<int>(
                                                          value.histo().num())));
                             }
                           }),
                IsOk());
    return events;
  }
  CheckpointWeights::Options Directories() const {
    return {.checkpoints = dir_, .events = dir_ + "/events"};
  }

  FakeClock clock_;
  PosixFileSystem files_;
  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
  CheckpointWeights weights_{clock_, files_, Directories()};
};

TEST_F(CheckpointWeightsTest, EachCheckpointIsOneEventWithItsVariablesAndStaysWhenItIsRetired) {
  weights_.Look();
  EXPECT_THAT(Events(), IsEmpty());
  Save(10, {1, 2, 3});
  weights_.Look();
  ASSERT_THAT(files_.Remove(CheckpointPrefix(dir_, 10) + ".index"), IsOk());
  Save(20, {4, 5});
  weights_.Look();
  weights_.Look();
  EXPECT_THAT(Events(), ElementsAre("start 10", "10 w=3", "20 w=2"));
}

TEST_F(CheckpointWeightsTest, ProcessThatStartsAgainGoesOnWhereTheFilesEnd) {
  Save(10, {1});
  Save(20, {1});
  weights_.Look();
  Save(30, {1});
  CheckpointWeights second(clock_, files_, Directories());
  second.Look();
  EXPECT_THAT(Events(), ElementsAre("start 10", "10 w=1", "20 w=1", "start 30", "30 w=1"));
}

TEST_F(CheckpointWeightsTest, TrainingThatWentBackDropsWhatWasGivenUp) {
  Save(10, {1});
  Save(30, {1});
  weights_.Look();
  ASSERT_THAT(files_.Remove(CheckpointPrefix(dir_, 30) + ".index"), IsOk());
  Save(20, {1, 2});
  weights_.Look();
  EXPECT_THAT(Events(), ElementsAre("start 10", "10 w=1", "30 w=1", "start 20", "20 w=2"));
  // The same step again, by the training that goes on.
  Save(30, {1});
  weights_.Look();
  EXPECT_EQ(Events().back(), "30 w=1");
}

TEST_F(CheckpointWeightsTest, DamagedCheckpointIsLeftOutUntilItIsWhole) {
  Save(10, {1, 2});
  const std::string data = CheckpointPrefix(dir_, 10) + ".data-00000-of-00001";
  const auto whole = files_.ReadAll(data);
  ASSERT_THAT(whole, IsOk());
  ASSERT_THAT(files_.WriteAtomically(data, whole->substr(0, whole->size() - 1) + "x"), IsOk());
  weights_.Look();
  EXPECT_THAT(Events(), IsEmpty());
  ASSERT_THAT(files_.WriteAtomically(data, *whole), IsOk());
  weights_.Look();
  EXPECT_THAT(Events(), ElementsAre("start 10", "10 w=2"));
}

TEST_F(CheckpointWeightsTest, DamagedCheckpointDoesNotHideThoseAfterIt) {
  Save(10, {1, 2});
  const std::string data = CheckpointPrefix(dir_, 10) + ".data-00000-of-00001";
  const auto whole = files_.ReadAll(data);
  ASSERT_THAT(whole, IsOk());
  ASSERT_THAT(files_.WriteAtomically(data, whole->substr(0, whole->size() - 1) + "x"), IsOk());
  Save(20, {1});
  weights_.Look();
  weights_.Look();
  EXPECT_THAT(Events(), ElementsAre("start 20", "20 w=1"));
}

TEST_F(CheckpointWeightsTest, DiskThatFailsIsTriedAgain) {
  Save(10, {1});
  // A file stands where the directory should be.
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/events", "x"), IsOk());
  weights_.Look();
  ASSERT_THAT(files_.Remove(dir_ + "/events"), IsOk());
  weights_.Look();
  EXPECT_THAT(Events(), ElementsAre("start 10", "10 w=1"));
}

TEST_F(CheckpointWeightsTest, ThreadTakesTheLastCheckpointBeforeItEnds) {
  {
    CheckpointWeights weights(clock_, files_, Directories());
    weights.Follow();
    Save(10, {1});
  }
  EXPECT_THAT(Events(), ElementsAre("start 10", "10 w=1"));
}

}  // namespace
}  // namespace taas
