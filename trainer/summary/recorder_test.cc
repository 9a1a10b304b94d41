#include "trainer/summary/recorder.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

class RecorderTest : public testing::Test {
 protected:
  std::unique_ptr<Recorder> Make(FileSystem& files) {
    series_ = std::make_unique<Series>();
    return std::make_unique<Recorder>(
        clock_, files, Recorder::Options{.dir = dir_, .every = 10, .examples_per_step = 7},
        *series_);
  }
  // "kind step" of each event of the directory, with the tags of summaries.
  std::vector<std::string> Events() {
    std::vector<std::string> texts;
    EXPECT_THAT(ReadEvents(posix_, dir_, 1 << 20,
                           [&](const summary::Event& event) {
                             std::string text = std::to_string(event.step());
                             if (event.has_session_log()) text = "start " + text;
                             for (const auto& value : event.summary().value()) {
                               text += " " + value.tag();
                             }
                             if (event.file_version().empty()) texts.push_back(text);
                           }),
                IsOk());
    return texts;
  }
  std::vector<int64_t> LossSteps() {
    std::vector<int64_t> steps;
    for (const Series::Point& point : series_->Points("loss")) steps.push_back(point.step);
    return steps;
  }

  FakeClock clock_;
  PosixFileSystem posix_;
  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
  std::unique_ptr<Series> series_;
};

TEST_F(RecorderTest, EachFileBeginsWithItsHeadAndEndsWithTheEnd) {
  series_ = std::make_unique<Series>();
  summary::Event head;
  head.mutable_summary()->add_value()->set_tag("head");
  for (int start = 0; start < 2; ++start) {
    Recorder recorder(clock_, posix_, {.dir = dir_, .every = 10, .head = {head}}, *series_);
    recorder.Record({.step = 10, .loss = 2});
    summary::Summary end;
    end.add_value()->set_tag("end");
    recorder.End(10, end);
  }
  EXPECT_THAT(Events(), ElementsAre("0 head", "start 10", "10 loss", "10 end", "0 head", "start 10",
                                    "10 loss", "10 end"));
}

// Symptom: of two jobs with one summaries.dir, as when two learning rates are compared, the curves
// of each had points of the other.
TEST_F(RecorderTest, FilesOfAnotherJobAreNoneOfItsPastAndAreToldOf) {
  series_ = std::make_unique<Series>();
  const auto run = [this](const char* job, double loss) {
    Recorder recorder(clock_, posix_, {.dir = dir_, .job = job, .every = 10}, *series_);
    recorder.Record({.step = static_cast<int64_t>(loss), .loss = loss});
  };
  testing::internal::CaptureStderr();
  run("default/fast", 10);
  run("default/fast", 20);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  series_ = std::make_unique<Series>();
  testing::internal::CaptureStderr();
  run("default/slow", 30);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("event files of another job"),
                             testing::HasSubstr("made by=default/fast")));
  EXPECT_THAT(LossSteps(), ElementsAre(30));
  EXPECT_THAT(OtherJobsIn(posix_, dir_, "default/fast"), ElementsAre("default/slow"));
}

// The evaluation of a job that found nothing left to train was in no file.
TEST_F(RecorderTest, AnEndWithoutASampleIsWrittenAtItsStep) {
  auto recorder = Make(posix_);
  EXPECT_EQ(recorder->last_step(), -1);
  summary::Summary end;
  end.add_value()->set_tag("eval/loss");
  end.mutable_value(0)->set_simple_value(2);
  recorder->End(500, end);
  recorder = nullptr;
  EXPECT_THAT(Events(), ElementsAre("500 eval/loss"));
  recorder = Make(posix_);
  recorder = nullptr;
  EXPECT_TRUE(series_->Points("eval/loss").empty()) << "it is no curve";
}

TEST_F(RecorderTest, SampleBecomesNumbersAndHistogramsOfItsStep) {
  auto recorder = Make(posix_);
  recorder->Record(
      {.step = 10, .loss = 2, .accuracy = 0.5, .perplexity = 7.5, .learning_rate = 0.1});
  clock_.Advance(2s);
  recorder->Record({.step = 20,
                    .loss = 1,
                    .histograms = {{"w", {1, 2}}, {"gradients/w", {0}}}});
  recorder = nullptr;
  EXPECT_THAT(Events(), ElementsAre("start 10", "10 loss accuracy perplexity learning_rate",
                                    "20 loss examples_per_second global_step/sec",
                                    "20 w gradients/w"));
  EXPECT_EQ(series_->Points("perplexity").at(0).value, 7.5);
  EXPECT_EQ(series_->Points("global_step/sec").at(0).value, 5);
  EXPECT_EQ(series_->Points("examples_per_second").at(0).value, 35);
}

// A disk on which nothing is opened while it hangs.
class HangingFiles : public FaultFileSystem {
 public:
  using FaultFileSystem::FaultFileSystem;
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(const std::string& path) override {
    hangs.wait(true);
    return FaultFileSystem::OpenAppend(path);
  }
  std::atomic<bool> hangs = true;
};

// Symptom: behind a slow disk three copies of weights and gradients were in memory at once, and as
// much of the heap stayed taken.
TEST_F(RecorderTest, HistogramsAreWantedOnceThoseBeforeWereCounted) {
  HangingFiles files(posix_);
  auto recorder = Make(files);
  EXPECT_TRUE(recorder->WantsHistograms());
  recorder->Record({.step = 10, .loss = 1});
  EXPECT_TRUE(recorder->WantsHistograms()) << "numbers are no copy";
  recorder->Record({.step = 20, .loss = 1, .histograms = {{"w", {1}}}});
  EXPECT_FALSE(recorder->WantsHistograms());
  files.hangs = false;
  files.hangs.notify_all();
  while (!recorder->WantsHistograms()) std::this_thread::yield();
  recorder = nullptr;
  EXPECT_THAT(Events(), testing::Contains("20 w"));
}

TEST_F(RecorderTest, WantedAreTheFirstStepMultiplesAndStepsAfterGoingBack) {
  auto recorder = Make(posix_);
  std::vector<int64_t> due;
  for (const int64_t step : {1, 2, 9, 10, 11, 19, 23, 24, 30, 12, 13, 20}) {
    if (!recorder->Due(step)) continue;
    recorder->Record({.step = step, .loss = 1});
    due.push_back(step);
  }
  EXPECT_THAT(due, ElementsAre(1, 10, 23, 30, 12, 20));
  recorder = nullptr;
  EXPECT_THAT(LossSteps(), ElementsAre(1, 10, 12, 20));
  // TensorBoard drops what was written of the steps that were given up.
  EXPECT_THAT(Events(), testing::IsSupersetOf({std::string("start 1"), std::string("start 12")}));
}

TEST_F(RecorderTest, ProcessThatStartsAgainShowsWhatWasRecordedBeforeUpToItsOwnFirstStep) {
  auto first = Make(posix_);
  for (const int64_t step : {10, 20, 30}) {
    first->Record({.step = step, .loss = 1, .histograms = {{"w", std::vector<float>(9'000, 1)}}});
  }
  first = nullptr;
  auto second = Make(posix_);
  second->Record({.step = 20, .loss = 5});
  second = nullptr;
  EXPECT_THAT(LossSteps(), ElementsAre(10, 20));
  EXPECT_EQ(series_->Points("loss").back().value, 5);
  auto third = Make(posix_);
  third = nullptr;
  EXPECT_THAT(LossSteps(), ElementsAre(10, 20));
}

TEST_F(RecorderTest, DiskThatFailsCostsEventsUntilItIsBackAndNothingElse) {
  FaultFileSystem files(posix_);
  auto recorder = Make(files);
  recorder->Record({.step = 10, .loss = 1});
  recorder = nullptr;
  FaultFileSystem broken(posix_);
  broken.FailAt(1, FaultFileSystem::Kind::kCrash);
  recorder = Make(broken);
  recorder->Record({.step = 20, .loss = 1});
  recorder->Record({.step = 30, .loss = 1});
  recorder = nullptr;
  EXPECT_THAT(LossSteps(), ElementsAre(20, 30));
  // A half record is never followed by another: a new file is begun.
  FaultFileSystem once(posix_);
  once.FailAt(1'000, FaultFileSystem::Kind::kOnce);
  recorder = Make(once);
  recorder->Record({.step = 40, .loss = 1});
  recorder = nullptr;
  const int operations = once.operations();
  once.FailAt(operations, FaultFileSystem::Kind::kOnce);
  recorder = Make(once);
  recorder->Record({.step = 50, .loss = 1});
  clock_.Advance(6s);
  recorder->Record({.step = 60, .loss = 1});
  clock_.Advance(6s);
  recorder->Record({.step = 70, .loss = 1});
  recorder = nullptr;
  EXPECT_THAT(Events(), testing::Contains("70 loss examples_per_second global_step/sec"));
}

TEST_F(RecorderTest, WithoutADirectoryOnlyTheSeriesIsKept) {
  Series series;
  {
    Recorder recorder(clock_, posix_, {}, series);
    EXPECT_FALSE(recorder.WantsHistograms());
    recorder.Record({.step = 1, .loss = std::numeric_limits<double>::quiet_NaN(), .accuracy = 1});
  }
  EXPECT_TRUE(series.Points("loss").empty());
  EXPECT_EQ(series.Points("accuracy").size(), 1u);
}

}  // namespace
}  // namespace taas
