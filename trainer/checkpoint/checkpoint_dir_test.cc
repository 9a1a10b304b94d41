#include "trainer/checkpoint/checkpoint_dir.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = FaultFileSystem::Kind;

class CheckpointDirTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(posix_.RemoveAll(dir_), IsOk());
  }

  CheckpointDir::Options Options(int keep = 5) {
    return {.dir = dir_,
            .owner = {"default/mnist", "u1", 1, 1, "s1"},
            .keep = keep,
            .shard_bytes = shard_bytes_};
  }

  std::unique_ptr<CheckpointDir> MustOpen(CheckpointDir::Options options) {
    auto dir = CheckpointDir::Open(files_, clock_, std::move(options));
    EXPECT_THAT(dir, IsOk());
    return dir.ok() ? *std::move(dir) : nullptr;
  }

  // A checkpoint whose only variable says which step it is of.
  absl::Status Save(CheckpointDir& dir, int64_t step) {
    const std::array<float, 4> values{static_cast<float>(step), 1, 2, 3};
    return dir.Save(step, {FloatTensor("w", {4}, values), FloatTensor("x", {4}, values)});
  }

  // The step of the newest good checkpoint, after checking that its content is that step's; 0:
  // none.
  int64_t LatestStep(CheckpointDir& dir) {
    auto latest = dir.Latest();
    EXPECT_THAT(latest, IsOk());
    if (!latest.ok()) return -1;
    if (!latest->has_value()) return 0;
    std::array<float, 4> values{};
    const std::array<int64_t, 1> shape{4};
    EXPECT_THAT((*latest)->reader->ReadFloats("w", shape, values), IsOk());
    EXPECT_EQ(values[0], static_cast<float>((*latest)->step));
    return (*latest)->step;
  }

  void Damage(const std::string& name) {
    std::string text = *posix_.ReadAll(dir_ + "/" + name);
    text[1] = static_cast<char>(~text[1]);
    ASSERT_THAT(posix_.WriteAtomically(dir_ + "/" + name, text), IsOk());
  }

  // As TensorFlow writes when a checkpoint was saved.
  static std::string TimeLine(Clock::WallTime time) {
    char text[64];
    std::snprintf(text, sizeof text, "all_model_checkpoint_timestamps: %.6f\n",
                  std::chrono::duration<double>(time.time_since_epoch()).count());
    return text;
  }

  // Every operation of Save fails once or is the last before a crash; the directory then holds the
  // old checkpoint or the new one, a successor can open it, and the next Save works.
  void FailAtEveryOperation();

  int64_t shard_bytes_ = 1 << 20;
  PosixFileSystem posix_;
  FaultFileSystem files_{posix_};
  FakeClock clock_;
  std::string dir_;
};

TEST_F(CheckpointDirTest, EmptyDirectoryHasNoCheckpoint) {
  auto dir = MustOpen(Options());
  EXPECT_EQ(LatestStep(*dir), 0);
}

TEST_F(CheckpointDirTest, SavedCheckpointIsTheLatestAndListedAsTensorFlowDoes) {
  auto dir = MustOpen(Options());
  const Clock::WallTime first = clock_.WallNow();
  ASSERT_THAT(Save(*dir, 500), IsOk());
  clock_.Advance(std::chrono::milliseconds(1'500));
  const Clock::WallTime second = clock_.WallNow();
  ASSERT_THAT(Save(*dir, 1000), IsOk());
  EXPECT_EQ(LatestStep(*dir), 1000);
  EXPECT_EQ(*posix_.ReadAll(dir_ + "/checkpoint"),
            "model_checkpoint_path: \"model.ckpt-1000\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-500\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-1000\"\n" +
                TimeLine(first) + TimeLine(second));
  EXPECT_THAT(*posix_.List(dir_),
              ElementsAre(".owner", "checkpoint", "model.ckpt-1000.data-00000-of-00001",
                          "model.ckpt-1000.index", "model.ckpt-500.data-00000-of-00001",
                          "model.ckpt-500.index"));
}

TEST_F(CheckpointDirTest, TheNewestAreListedWithSizeAndTimeAlsoByASuccessor) {
  const std::vector<int64_t> steps = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::map<int64_t, Clock::WallTime> times;
  {
    auto dir = MustOpen(Options(20));
    for (const int64_t step : steps) {
      clock_.Advance(std::chrono::milliseconds(250));
      times[step] = clock_.WallNow();
      ASSERT_THAT(Save(*dir, step), IsOk());
    }
    clock_.Advance(std::chrono::seconds(1));
    ASSERT_THAT(Save(*dir, 12), IsOk()) << "it is there already";
  }
  CheckpointDir::Options successor = Options(20);
  successor.owner.pod = 2;
  auto dir = MustOpen(successor);
  const auto listed = dir->List();
  ASSERT_THAT(listed, IsOk());
  ASSERT_EQ(listed->size(), CheckpointDir::kListedMax);
  for (size_t i = 0; i < listed->size(); ++i) {
    const CheckpointDir::Listed& one = (*listed)[i];
    EXPECT_EQ(one.step, static_cast<int64_t>(12 - i));
    EXPECT_EQ(one.saved_at, times[one.step]) << one.step;
    const std::string prefix = dir_ + "/model.ckpt-" + std::to_string(one.step);
    EXPECT_EQ(one.bytes, static_cast<int64_t>(
                             posix_.ReadAll(prefix + ".index")->size() +
                             posix_.ReadAll(prefix + ".data-00000-of-00001")->size()));
  }
}

TEST_F(CheckpointDirTest, ATimeThatNobodySaysIsNotKnown) {
  ASSERT_THAT(Save(*MustOpen(Options()), 5), IsOk());
  for (const char* text :
       {"", "model_checkpoint_path: \"model.ckpt-5\"\n",
        "all_model_checkpoint_paths: \"model.ckpt-5\"\n",
        "all_model_checkpoint_paths: \"model.ckpt-5\"\nall_model_checkpoint_timestamps: soon\n",
        "all_model_checkpoint_paths: \"model.ckpt-5\"\nall_model_checkpoint_timestamps: 1e99\n",
        "all_model_checkpoint_paths: \nall_model_checkpoint_timestamps: 5\n", "\xff\n\n\""}) {
    ASSERT_THAT(posix_.WriteAtomically(dir_ + "/checkpoint", text), IsOk());
    auto dir = MustOpen(Options());
    const auto listed = dir->List();
    ASSERT_THAT(listed, IsOk());
    ASSERT_EQ(listed->size(), 1u);
    EXPECT_FALSE((*listed)[0].saved_at.has_value()) << text;
    // Then TensorFlow is told of none: it wants as many as there are checkpoints.
    ASSERT_THAT(Save(*dir, 6), IsOk());
    EXPECT_EQ(posix_.ReadAll(dir_ + "/checkpoint")->find("timestamps"), std::string::npos);
    ASSERT_THAT(posix_.Remove(dir_ + "/model.ckpt-6.index"), IsOk());
  }
}

TEST_F(CheckpointDirTest, ADamagedOneIsNoneOfThoseThatAreListed) {
  auto dir = MustOpen(Options());
  ASSERT_THAT(Save(*dir, 8), IsOk());
  ASSERT_THAT(Save(*dir, 9), IsOk());
  Damage("model.ckpt-9.index");
  EXPECT_EQ(LatestStep(*dir), 8);
  const auto listed = dir->List();
  ASSERT_THAT(listed, IsOk());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ((*listed)[0].step, 8);
}

TEST_F(CheckpointDirTest, OnlyTheNewestStay) {
  auto dir = MustOpen(Options(2));
  for (const int64_t step : {1, 2, 3, 10}) ASSERT_THAT(Save(*dir, step), IsOk());
  EXPECT_THAT(*posix_.List(dir_),
              ElementsAre(".owner", "checkpoint", "model.ckpt-10.data-00000-of-00001",
                          "model.ckpt-10.index", "model.ckpt-3.data-00000-of-00001",
                          "model.ckpt-3.index"));
}

TEST_F(CheckpointDirTest, TheOneJustWrittenStaysEvenIfOthersHaveHigherSteps) {
  auto dir = MustOpen(Options(1));
  ASSERT_THAT(Save(*dir, 1000), IsOk());
  ASSERT_THAT(Save(*dir, 600), IsOk());
  EXPECT_EQ(LatestStep(*dir), 600);
}

TEST_F(CheckpointDirTest, DamagedNewestFallsBackToTheOneBefore) {
  for (const char* file : {"model.ckpt-9.data-00000-of-00001", "model.ckpt-9.index"}) {
    ASSERT_THAT(posix_.RemoveAll(dir_), IsOk());
    auto dir = MustOpen(Options());
    ASSERT_THAT(Save(*dir, 8), IsOk());
    ASSERT_THAT(Save(*dir, 9), IsOk());
    Damage(file);
    EXPECT_EQ(LatestStep(*dir), 8) << file;
    ASSERT_THAT(Save(*dir, 9), IsOk()) << "a damaged checkpoint is replaced";
    EXPECT_EQ(LatestStep(*dir), 9) << file;
  }
}

TEST_F(CheckpointDirTest, DamagedCheckpointIsNotListedAndGoesWhenTrainingIsPastIt) {
  auto dir = MustOpen(Options(2));
  ASSERT_THAT(Save(*dir, 5), IsOk());
  ASSERT_THAT(Save(*dir, 10), IsOk());
  Damage("model.ckpt-10.index");
  EXPECT_EQ(LatestStep(*dir), 5);
  ASSERT_THAT(Save(*dir, 7), IsOk());
  EXPECT_EQ(*posix_.ReadAll(dir_ + "/checkpoint"),
            "model_checkpoint_path: \"model.ckpt-7\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-5\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-7\"\n" +
                TimeLine(clock_.WallNow()) + TimeLine(clock_.WallNow()));
  EXPECT_TRUE(*posix_.Exists(dir_ + "/model.ckpt-10.index"));
  ASSERT_THAT(Save(*dir, 11), IsOk());
  EXPECT_THAT(*posix_.List(dir_),
              ElementsAre(".owner", "checkpoint", "model.ckpt-11.data-00000-of-00001",
                          "model.ckpt-11.index", "model.ckpt-7.data-00000-of-00001",
                          "model.ckpt-7.index"));
}

TEST_F(CheckpointDirTest, DirectoryWithOnlyDamagedCheckpointsIsAnErrorAndNotAFreshStart) {
  auto dir = MustOpen(Options());
  ASSERT_THAT(Save(*dir, 9), IsOk());
  Damage("model.ckpt-9.data-00000-of-00001");
  EXPECT_THAT(dir->Latest(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("begin again")));
}

TEST_F(CheckpointDirTest, DiskThatDoesNotAnswerIsNoReasonToGoBack) {
  auto dir = MustOpen(Options());
  ASSERT_THAT(Save(*dir, 8), IsOk());
  ASSERT_THAT(Save(*dir, 9), IsOk());
  files_.FailAt(2, Kind::kOnce);  // 1 lists, 2 opens the newest index.
  EXPECT_THAT(dir->Latest(), StatusIs(absl::StatusCode::kUnavailable));
  files_.FailAt(0, Kind::kOnce);
  EXPECT_EQ(LatestStep(*dir), 9);
}

TEST_F(CheckpointDirTest, SavingAGoodStepAgainChangesNothing) {
  auto dir = MustOpen(Options());
  ASSERT_THAT(Save(*dir, 5), IsOk());
  const std::array<float, 4> other{99, 0, 0, 0};
  ASSERT_THAT(dir->Save(5, {FloatTensor("w", {4}, other)}), IsOk());
  EXPECT_EQ(LatestStep(*dir), 5);
}

void CheckpointDirTest::FailAtEveryOperation() {
  for (const Kind kind : {Kind::kOnce, Kind::kCrash}) {
    int faults = 0;
    int news = 0;
    for (int operation = 1;; ++operation) {
      files_.FailAt(0, kind);
      ASSERT_THAT(posix_.RemoveAll(dir_), IsOk());
      auto dir = MustOpen(Options(1));  // 1: the old one goes as soon as the new one stands.
      ASSERT_THAT(Save(*dir, 10), IsOk());
      files_.FailAt(operation, kind);
      const absl::Status saved = Save(*dir, 20);
      const bool reached = files_.operations() >= operation;
      files_.FailAt(0, kind);
      CheckpointDir::Options successor = Options(1);
      successor.owner.pod = 2;
      auto next = MustOpen(successor);
      ASSERT_NE(next, nullptr);
      const int64_t latest = LatestStep(*next);
      ASSERT_TRUE(latest == 10 || latest == 20) << "operation " << operation << ": " << latest;
      if (saved.ok()) {
        ASSERT_EQ(latest, 20) << "operation " << operation;
      }
      ASSERT_THAT(Save(*next, 30), IsOk()) << "operation " << operation;
      ASSERT_EQ(LatestStep(*next), 30);
      ASSERT_THAT(*posix_.List(dir_), Each(Not(HasSubstr("tmp"))));
      ASSERT_THAT(*posix_.List(dir_), Each(Not(HasSubstr("ckpt-10.")))) << operation;
      if (!reached) break;
      ++faults;
      news += latest == 20 ? 1 : 0;
    }
    EXPECT_GT(faults, 20);
    EXPECT_GT(news, 0);
    EXPECT_LT(news, faults);
  }
}

TEST_F(CheckpointDirTest, FaultAtAnyOperationLeavesTheOldCheckpointOrTheNew) {
  FailAtEveryOperation();
}

TEST_F(CheckpointDirTest, FaultAtAnyOperationOfSeveralDataFilesDoesTheSame) {
  shard_bytes_ = 16;
  FailAtEveryOperation();
}

TEST_F(CheckpointDirTest, LargeCheckpointsHaveSeveralDataFiles) {
  shard_bytes_ = 16;
  auto dir = MustOpen(Options(1));
  ASSERT_THAT(Save(*dir, 10), IsOk());
  EXPECT_THAT(*posix_.List(dir_),
              ElementsAre(".owner", "checkpoint", "model.ckpt-10.data-00000-of-00002",
                          "model.ckpt-10.data-00001-of-00002", "model.ckpt-10.index"));
  shard_bytes_ = 1 << 20;  // A job that goes on with another limit.
  auto next = MustOpen(Options(1));
  EXPECT_EQ(LatestStep(*next), 10);
  ASSERT_THAT(Save(*next, 20), IsOk());
  EXPECT_THAT(*posix_.List(dir_),
              ElementsAre(".owner", "checkpoint", "model.ckpt-20.data-00000-of-00001",
                          "model.ckpt-20.index"));
}

// The same for a step whose damaged checkpoint is replaced while an older good one exists.
TEST_F(CheckpointDirTest, FaultWhileReplacingADamagedStepKeepsTheOlderOne) {
  for (int operation = 1;; ++operation) {
    files_.FailAt(0, Kind::kCrash);
    ASSERT_THAT(posix_.RemoveAll(dir_), IsOk());
    auto dir = MustOpen(Options(2));
    ASSERT_THAT(Save(*dir, 10), IsOk());
    ASSERT_THAT(Save(*dir, 20), IsOk());
    Damage("model.ckpt-20.data-00000-of-00001");
    files_.FailAt(operation, Kind::kCrash);
    (void)Save(*dir, 20);
    const bool reached = files_.operations() >= operation;
    files_.FailAt(0, Kind::kCrash);
    const int64_t latest = LatestStep(*dir);
    ASSERT_TRUE(latest == 10 || latest == 20) << "operation " << operation << ": " << latest;
    if (!reached) break;
  }
}

TEST_F(CheckpointDirTest, EarlierAttemptIsRefused) {
  CheckpointDir::Options second = Options();
  second.owner.attempt = 2;
  auto dir = MustOpen(second);
  EXPECT_THAT(CheckpointDir::Open(files_, clock_, Options()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(dir_), HasSubstr("attempt 2"))));
}

TEST_F(CheckpointDirTest, ProcessWhoseDirectoryWasTakenOverCanNoLongerSave) {
  auto late = MustOpen(Options());
  ASSERT_THAT(Save(*late, 10), IsOk());
  CheckpointDir::Options successor = Options();
  successor.owner.pod = 2;
  auto next = MustOpen(successor);
  EXPECT_THAT(Save(*late, 20), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("taken over by job default/mnist")));
  EXPECT_THAT(late->Renew(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(LatestStep(*next), 10);
}

TEST_F(CheckpointDirTest, AnotherJobWaitsUntilTheOwnerIsDeadOrDone) {
  auto first = MustOpen(Options());
  CheckpointDir::Options other = Options();
  other.owner.uid = "u2";
  EXPECT_THAT(CheckpointDir::Open(files_, clock_, other),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("another job")));
  clock_.Advance(20s);
  ASSERT_THAT(first->Renew(), IsOk());
  clock_.Advance(20s);
  EXPECT_THAT(CheckpointDir::Open(files_, clock_, other),
              StatusIs(absl::StatusCode::kAborted));
  ASSERT_THAT(first->Release(), IsOk());
  EXPECT_THAT(CheckpointDir::Open(files_, clock_, other), IsOk());
  clock_.Advance(CheckpointDir::kOwnerLease);
  EXPECT_THAT(CheckpointDir::Open(files_, clock_, Options()), IsOk());
}

// Symptom: a copy of a manifest, under another name, succeeded at once with the other job's model.
TEST_F(CheckpointDirTest, ThatTheCheckpointsAreAnotherJobsIsSaid) {
  CheckpointDir::Options first = Options();
  first.owner.job = "default/gpt2";
  auto dir = MustOpen(first);
  ASSERT_THAT(Save(*dir, 3), IsOk());
  ASSERT_THAT(dir->Release(), IsOk());
  const auto said_to = [&](const std::string& job) {
    CheckpointDir::Options options = Options();
    options.owner.job = job;
    options.owner.uid = "of another " + job;
    auto next = MustOpen(options);
    testing::internal::CaptureStderr();
    EXPECT_EQ(LatestStep(*next), 3);
    EXPECT_THAT(next->Release(), IsOk());
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said_to("default/gpt2"), Not(HasSubstr("another job's")));
  EXPECT_THAT(said_to("default/slow"),
              AllOf(HasSubstr("another job's"), HasSubstr("default/gpt2")));
}

// Symptom: a published model that lay there was passed over, and training began anew.
TEST_F(CheckpointDirTest, ThatAModelOfOthersIsNoStartIsSaid) {
  auto dir = MustOpen(Options());
  ASSERT_THAT(posix_.WriteAtomically(dir_ + "/model.safetensors", "x"), IsOk());
  testing::internal::CaptureStderr();
  EXPECT_EQ(LatestStep(*dir), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("begins at step 0"), HasSubstr("model.safetensors")));
}

// A model of 100 GB takes longer to write than an owner may be silent.
TEST_F(CheckpointDirTest, TheOwnerIsRenewedWhileALongWriteGoesOn) {
  class SlowFiles : public PosixFileSystem {
   public:
    explicit SlowFiles(FakeClock& clock) : clock_(clock) {}
    absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path) override {
      if (path.find(".data-") != std::string::npos) clock_.Advance(12s);
      if (path.find(".owner") != std::string::npos) ++owner_writes;
      return PosixFileSystem::OpenWrite(path);
    }
    int owner_writes = 0;

   private:
    FakeClock& clock_;
  };
  SlowFiles slow(clock_);
  auto dir = CheckpointDir::Open(slow, clock_, Options());
  ASSERT_THAT(dir, IsOk());
  slow.owner_writes = 0;
  ASSERT_THAT(Save(**dir, 10), IsOk());
  EXPECT_EQ(slow.owner_writes, 2) << "during the write and after it";
}

TEST_F(CheckpointDirTest, DirectoryThatCannotBeWrittenIsNamed) {
  ASSERT_THAT(posix_.WriteAtomically(dir_, "a file, not a directory"), IsOk());
  const auto dir = CheckpointDir::Open(files_, clock_, Options());
  ASSERT_FALSE(dir.ok());
  EXPECT_THAT(std::string(dir.status().message()), HasSubstr("use checkpoint directory " + dir_));
}

TEST_F(CheckpointDirTest, UnreadableOwnerRecordIsReplaced) {
  ASSERT_THAT(posix_.MakeDirs(dir_), IsOk());
  ASSERT_THAT(posix_.WriteAtomically(dir_ + "/.owner", "garbage"), IsOk());
  auto dir = MustOpen(Options());
  EXPECT_THAT(Save(*dir, 1), IsOk());
}

}  // namespace
}  // namespace taas
