#include "trainer/evaluator/evaluator.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/checkpoint/checkpoint_list.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/task/model_task.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class EvaluatorTest : public testing::Test {
 protected:
  EvaluatorTest() {
    EXPECT_THAT(files_.MakeDirs(dir_), IsOk());
    config_.model = R"({"name":"linear"})";
    config_.data = R"({"format":"generated",
        "generated":{"examples":10,"testExamples":5,"features":2,"classes":0}})";
    config_.optimizer = R"({"name":"sgd","learningRate":0.1})";
    config_.batch_size = 5;
    auto task = ModelTask::Make(CpuRuntime(), files_, config_);
    EXPECT_THAT(task, IsOk());
    task_ = *std::move(task);
  }
  // A checkpoint whose variables all have `value`, and whose averages have the one above.
  void Save(int64_t step, float value) {
    const auto writer = BundleWriter::Open(files_, CheckpointPrefix(dir_, step));
    ASSERT_THAT(writer, IsOk());
    for (const VariableInfo& variable : task_->session().variables()) {
      const std::vector<int64_t> dims = variable.shape.dims();
      const std::vector<float> values(variable.count, value), averages(variable.count, value + 1);
      ASSERT_THAT((*writer)->Add(FloatTensor(variable.name, dims, values)), IsOk());
      ASSERT_THAT(
          (*writer)->Add(FloatTensor(variable.name + "/ExponentialMovingAverage", dims, averages)),
          IsOk());
    }
    const TensorValue number = Int64Tensor("global_step", {}, std::span(&step, 1));
    ASSERT_THAT((*writer)->Add(number.View()), IsOk());
    ASSERT_THAT((*writer)->Finish(), IsOk());
  }
  absl::Status Run(Evaluator::Options options) {
    options.dir = dir_;
    Evaluator evaluator(clock_, files_, options, board_, *task_, [this](const Evaluation& found) {
      steps_.push_back(found.step);
      losses_.push_back(found.loss);
      ++shown_;
    });
    return evaluator.Run(stop_);
  }

  RealClock clock_;
  PosixFileSystem files_;
  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
  TrainerConfig config_;
  std::unique_ptr<ModelTask> task_;
  StatusBoard board_{StatusBoard::Identity{}};
  StopFlag stop_;
  std::vector<int64_t> steps_;
  std::vector<double> losses_;
  std::atomic<int> shown_ = 0;  // For other threads.
};

TEST_F(EvaluatorTest, NewestCheckpointIsEvaluatedAndThatOfTheLastStepIsTheEnd) {
  Save(10, 0);
  Save(20, 0);
  EXPECT_THAT(Run({.max_steps = 20}), IsOk());
  EXPECT_THAT(steps_, ElementsAre(20));
  EXPECT_EQ(board_.snapshot().state, RunState::kDone);
  EXPECT_EQ(board_.snapshot().evaluation->step, 20);
}

TEST_F(EvaluatorTest, DamagedCheckpointIsPassedOverForTheOneBefore) {
  Save(10, 0);
  ASSERT_THAT(files_.WriteAtomically(BundleIndexPath(CheckpointPrefix(dir_, 20)), "half"), IsOk());
  std::thread repair([&] {
    while (shown_ == 0) clock_.SleepUntil(clock_.Now() + 1ms);
    Save(20, 0);
  });
  EXPECT_THAT(Run({.max_steps = 20}), IsOk());
  repair.join();
  EXPECT_THAT(steps_, ElementsAre(10, 20));
}

TEST_F(EvaluatorTest, AveragesAreTakenInsteadOfTheVariablesWhereTheyAreKept) {
  Save(10, 0);
  EXPECT_THAT(Run({.max_steps = 10}), IsOk());
  EXPECT_THAT(Run({.max_steps = 10, .moving_average = true}), IsOk());
  ASSERT_EQ(losses_.size(), 2u);
  EXPECT_NE(losses_[0], losses_[1]);
  Save(30, 1);
  EXPECT_THAT(Run({.max_steps = 30}), IsOk());
  EXPECT_EQ(losses_[1], losses_[2]);
}

TEST_F(EvaluatorTest, CheckpointOfAnotherModelIsRefusedWithTheFirstDifference) {
  Save(10, 0);
  config_.data = R"({"format":"generated",
      "generated":{"examples":10,"testExamples":5,"features":3,"classes":0}})";
  auto task = ModelTask::Make(CpuRuntime(), files_, config_);
  ASSERT_THAT(task, IsOk());
  task_ = *std::move(task);
  EXPECT_THAT(Run({.max_steps = 10}), StatusIs(absl::StatusCode::kFailedPrecondition,
                                               HasSubstr("checkpoint of another model: it has")));
}

// A second passes from one look at this clock to the next; the eighth is the last.
class QuickClock : public FakeClock {
 public:
  explicit QuickClock(StopFlag& stop) : stop_(stop) {}
  Time Now() const override {
    if (++looks_ == 8) stop_.Stop();
    const Time next = FakeClock::Now() + 1s;
    AdvanceTo(next);
    return next;
  }

 private:
  StopFlag& stop_;
  mutable int looks_ = 0;
};

// The log was empty as long as nobody wrote a checkpoint into a directory that was there.
TEST_F(EvaluatorTest, WaitForTheFirstCheckpointIsLoggedOnce) {
  QuickClock clock(stop_);
  Evaluator evaluator(clock, files_, {.dir = dir_, .max_steps = 10}, board_, *task_,
                      [](const Evaluation&) {});
  testing::internal::CaptureStderr();
  EXPECT_THAT(evaluator.Run(stop_), StatusIs(absl::StatusCode::kCancelled));
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string line = "waiting for a checkpoint in " + dir_;
  ASSERT_THAT(log, HasSubstr(line));
  EXPECT_EQ(log.find(line), log.rfind(line)) << log;
}

// Symptom: it began with a warning of "No such file or directory", of a job that had just begun.
TEST_F(EvaluatorTest, ADirectoryThatIsStillToComeIsNoTrouble) {
  QuickClock clock(stop_);
  Evaluator evaluator(clock, files_, {.dir = dir_ + "/later", .max_steps = 10}, board_, *task_,
                      [](const Evaluation&) {});
  testing::internal::CaptureStderr();
  EXPECT_THAT(evaluator.Run(stop_), StatusIs(absl::StatusCode::kCancelled));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr(" I waiting for a checkpoint in " + dir_ + "/later\n"));
  EXPECT_THAT(log, testing::Not(HasSubstr("No such file")));
}

TEST_F(EvaluatorTest, ToldToStopWhileNothingComesItEnds) {
  stop_.Stop();
  EXPECT_THAT(Run({.max_steps = 10}), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(board_.snapshot().message, HasSubstr("waiting for a checkpoint in " + dir_));
}

}  // namespace
}  // namespace taas
