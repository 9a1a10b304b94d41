#include "trainer/cut/background_saver.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/task/training_task.h"
#include "trainer/testing/failing_device.h"

namespace taas {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// Several of a saver's parts, the last not full.
constexpr int64_t kRows = 2'500'001;

// A disk that hangs when a data file is to be written, until it is let go.
class HangingFiles : public PosixFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path) override {
    if (path.find(".data-") != std::string::npos) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !hangs_; });
      if (fails_) return absl::UnavailableError("the disk is away");
    }
    return PosixFileSystem::OpenWrite(path);
  }
  void Set(bool hangs, bool fails) {
    std::lock_guard lock(mutex_);
    hangs_ = hangs;
    fails_ = fails;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  bool fails_ = false;
};

Graph MakeGraph() {
  Graph graph;
  const Value w = graph.Variable("w", Shape({kRows}), Initializer::Constant(1));
  graph.Variable("moment", Shape({3}), Initializer::Constant(1), /*trainable=*/false);
  graph.Add("L2Loss", "loss", {w});
  return graph;
}

// Values that a copy must not put into other places.
void Fill(float value, std::span<float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = value + static_cast<float>(i % 1009) / 1024;
  }
}

class BackgroundSaverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(files_.RemoveAll(dir_), IsOk());
    optimizer_ = *Optimizer::Parse(R"({"name":"momentum","learningRate":0.1})");
    session_ = *Session::Compile({{&device_}, CpuRuntime().kernels}, MakeGraph(),
                                 {.loss = "loss"});
    EXPECT_THAT(session_->InitializeVariables(1), IsOk());
    ASSERT_THAT(session_->model().AddSlots(std::array{0.0f}), IsOk());
    SnapshotShape shape = ShapeOf(*session_, 1, 1);
    shape.optimizer = "momentum";
    shape.slots = {"Momentum"};
    auto store =
        SnapshotStore::Open(files_, clock_, {.dir = dir_, .uid = "u", .keep = 9, .shape = shape});
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
    saver_ = std::make_unique<BackgroundSaver>(clock_, *store_, session_->model());
  }
  void TearDown() override { files_.Set(false, false); }

  // As a step of training does.
  void Change(float value) {
    // Within the run.
    std::ranges::fill(session_->variable(1).host(), value);
    saver_->Detach();
    Fill(value, session_->variable(0).host());
    Fill(value, session_->model().slot(0, 0).host());
  }

  void ExpectCheckpoint(int64_t step, float value) {
    const std::string prefix = dir_ + "/model.ckpt-" + std::to_string(step);
    const auto reader = BundleReader::Open(files_, prefix);
    ASSERT_THAT(reader, IsOk());
    std::vector<float> want(kRows);
    Fill(value, want);
    for (const char* name : {"w", "w/Momentum"}) {
      std::vector<float> got(kRows);
      ASSERT_THAT((*reader)->ReadFloats(name, std::array<int64_t, 1>{kRows}, got), IsOk());
      EXPECT_TRUE(got == want) << name;
    }
    std::vector<float> got(3);
    ASSERT_THAT((*reader)->ReadFloats("moment", std::array<int64_t, 1>{3}, got), IsOk());
    EXPECT_THAT(got, Each(value));
  }

  const std::string dir_ = ::testing::TempDir() + "/background";
  RealClock clock_;
  HangingFiles files_;
  FailingDevice device_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<SnapshotStore> store_;
  std::unique_ptr<BackgroundSaver> saver_;
};

TEST_F(BackgroundSaverTest, ACheckpointIsOfTheMomentItWasBegunWhateverChangesAfter) {
  Change(2);
  files_.Set(/*hangs=*/true, /*fails=*/false);
  saver_->Begin(5, {});
  for (int step = 0; step < 3; ++step) Change(7);  // Training does not wait for the disk.
  EXPECT_TRUE(saver_->busy());
  EXPECT_FALSE(saver_->Take().has_value());
  files_.Set(false, false);
  saver_->Wait();
  const auto result = saver_->Take();
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(result->status, IsOk());
  EXPECT_EQ(result->step, 5);
  EXPECT_FALSE(saver_->Take().has_value()) << "once";
  ExpectCheckpoint(5, 2);
  saver_->Begin(8, {});
  Change(9);
  saver_->Wait();
  ExpectCheckpoint(8, 7);
}

TEST_F(BackgroundSaverTest, ADiskThatFailsIsTold) {
  files_.Set(false, /*fails=*/true);
  saver_->Begin(5, {});
  saver_->Wait();
  EXPECT_THAT(saver_->Take()->status,
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("the disk is away")));
  files_.Set(false, false);
  Change(3);
  saver_->Begin(6, {});
  saver_->Wait();
  EXPECT_THAT(saver_->Take()->status, IsOk());
  ExpectCheckpoint(6, 3);
}

TEST_F(BackgroundSaverTest, AModelThatCannotBeReadIsNotSaved) {
  device_.fails_reading = session_->model().other_values().data();
  saver_->Begin(5, {});
  saver_->Wait();
  EXPECT_THAT(saver_->Take()->status,
              StatusIs(absl::StatusCode::kInternal, HasSubstr("read the model")));
  device_.fails_reading = nullptr;
  Change(3);
  saver_->Begin(6, {});
  saver_->Wait();
  EXPECT_THAT(saver_->Take()->status, IsOk());
  ExpectCheckpoint(6, 3);
}

TEST_F(BackgroundSaverTest, TheEndWaitsForTheSaveThatRuns) {
  Change(4);
  saver_->Begin(5, {});
  saver_ = nullptr;
  ExpectCheckpoint(5, 4);
}

}  // namespace
}  // namespace taas
