#include "dashboard/history/history_store.h"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <string>

#include "dashboard/history/fake_full_disk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "operator/base/thread_executor.h"

namespace taas::dashboard {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::vector<HistoryPlace> kMl = {{JobKind::kTrainingJob, "ml"}};

HistoryJob JobOf(const std::string& uid, int over = 1) {
  return {.uid = uid,
          .ns = "ml",
          .name = uid,
          .over = Clock::WallTime(seconds(1'767'225'600 + over)),
          .search = uid,
          .row = "{}",
          .detail = "{}"};
}

size_t CountOf(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Both executors are the same simulated one.
class HistoryStoreTest : public testing::Test {
 protected:
  HistoryStoreTest() { EXPECT_NE(mkdtemp(dir_.data()), nullptr); }

  void Start(HistoryLimits limits = {}) {
    store_ = std::make_unique<HistoryStore>(executor_, executor_,
                                            HistoryStore::Options{path(), limits});
    store_->Start([this](std::vector<HistoryOpen> jobs) { opened_.push_back(std::move(jobs)); });
  }
  void Restart() {
    store_->Close([] {});
    RunFor(seconds(1));
    store_.reset();
    opened_.clear();
    Start();
    RunFor(seconds(1));
  }
  void RunFor(Clock::Duration time) { executor_.RunUntil(executor_.clock().Now() + time); }
  std::string path() const { return dir_ + "/history.db"; }

  absl::StatusOr<std::vector<std::string>> Uids() {
    absl::StatusOr<std::vector<std::string>> uids = absl::UnknownError("no answer");
    store_->Page({.places = kMl}, [&](const absl::StatusOr<HistoryPage>& page) {
      if (!page.ok()) {
        uids = page.status();
        return;
      }
      uids = std::vector<std::string>();
      for (const HistoryRow& row : page->rows) uids->push_back(row.cursor.uid);
    });
    RunFor(milliseconds(10));
    return uids;
  }

  SimExecutor executor_{SimExecutor::Options{.seed = 7}};
  PosixFileSystem files_;
  std::string dir_ = testing::TempDir() + "/store.XXXXXX";
  std::vector<std::vector<HistoryOpen>> opened_;
  std::unique_ptr<HistoryStore> store_;
};

TEST_F(HistoryStoreTest, WhatIsPutIsReadSoonAfterAndAfterARestart) {
  Start();
  store_->Put(JobOf("u1", 1));
  store_->Put(JobOf("u2", 2));
  RunFor(seconds(1));
  EXPECT_THAT(*Uids(), ElementsAre("u2", "u1"));
  Restart();
  EXPECT_THAT(*Uids(), ElementsAre("u2", "u1"));
  ASSERT_THAT(opened_, SizeIs(1));
  EXPECT_THAT(opened_[0], SizeIs(2)) << "both may still be there";
}

TEST_F(HistoryStoreTest, ClosingWritesWhatStillWaits) {
  Start();
  RunFor(seconds(1));
  store_->Put(JobOf("u1"));
  Restart();
  EXPECT_THAT(*Uids(), ElementsAre("u1"));
}

TEST_F(HistoryStoreTest, AThousandChangesOfOneJobWaitAsOne) {
  Start();
  for (int i = 0; i < 1'000; ++i) store_->Put(JobOf("u1"));
  EXPECT_LT(store_->waiting_bytes(), 2'000u);
  RunFor(seconds(1));
  EXPECT_EQ(store_->waiting_bytes(), 0u);
  EXPECT_THAT(*Uids(), ElementsAre("u1"));
}

TEST_F(HistoryStoreTest, MoreThanABatchIsWrittenToo) {
  Start();
  for (size_t i = 0; i < 3 * HistoryStore::kBatchMax; ++i) {
    store_->Put(JobOf("u" + std::to_string(i), static_cast<int>(i)));
  }
  RunFor(seconds(1));
  EXPECT_EQ(store_->waiting_bytes(), 0u);
  EXPECT_THAT(*Uids(), SizeIs(100));
}

// A directory stands where the file is to be: nothing can be written, everything goes on.
TEST_F(HistoryStoreTest, AFileThatCannotBeOpenedIsSaidOnceAndTriedAgain) {
  ASSERT_THAT(files_.MakeDirs(path()), IsOk());
  testing::internal::CaptureStderr();
  Start();
  store_->Put(JobOf("u1"));
  RunFor(std::chrono::minutes(10));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(CountOf(log, "not being written"), 1u) << log;
  EXPECT_THAT(store_->Trouble(), HasSubstr("not being written since 2026-01-01T00:00:0"));
  EXPECT_THAT(store_->Trouble(), Not(HasSubstr(dir_))) << "is for everybody";
  EXPECT_THAT(Uids(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("read the history")));
  EXPECT_THAT(opened_, IsEmpty());

  ASSERT_THAT(files_.RemoveAll(path()), IsOk());
  RunFor(HistoryStore::kRetry + seconds(1));
  EXPECT_EQ(store_->Trouble(), "");
  EXPECT_THAT(*Uids(), ElementsAre("u1"));
  EXPECT_THAT(opened_, SizeIs(1));
}

TEST_F(HistoryStoreTest, AFullDiskIsSaidOnceAndNothingIsLostUntilThereIsRoom) {
  Start();
  store_->Put(JobOf("before", 1));
  RunFor(seconds(1));
  const auto entry = [](int i) {
    HistoryJob job = JobOf("u" + std::to_string(i), 10 + i);
    job.detail = std::string(20'000, 'd');
    return job;
  };
  testing::internal::CaptureStderr();
  {
    FakeFullDisk full(400'000);
    for (int i = 0; i < 50; ++i) {
      store_->Put(entry(i));
      RunFor(seconds(10));
    }
    EXPECT_THAT(store_->Trouble(), HasSubstr("not being written"));
    EXPECT_THAT(Uids(), IsOk()) << "what is there is still read";
  }
  EXPECT_EQ(CountOf(testing::internal::GetCapturedStderr(), "not being written"), 1u);
  RunFor(HistoryStore::kRetry + seconds(2));
  EXPECT_EQ(store_->Trouble(), "");
  EXPECT_THAT(*Uids(), SizeIs(51));
}

TEST_F(HistoryStoreTest, WhileTheDiskIsAwayMemoryIsBoundedAndTheOldestGo) {
  ASSERT_THAT(files_.MakeDirs(path()), IsOk());
  Start();
  for (int i = 0; i < 100; ++i) {
    HistoryJob job = JobOf("u" + std::to_string(100 + i), i);
    job.detail = std::string(1 << 20, 'd');
    store_->Put(std::move(job));
  }
  EXPECT_LE(store_->waiting_bytes(), HistoryStore::kWaitingBytesMax);
  RunFor(seconds(1));
  ASSERT_THAT(files_.RemoveAll(path()), IsOk());
  RunFor(HistoryStore::kRetry * 2);
  const auto uids = *Uids();
  ASSERT_THAT(uids, SizeIs(31));
  EXPECT_EQ(uids.front(), "u199");
  EXPECT_EQ(uids.back(), "u169");
}

// Symptom: in some hours without a disk what replicas used had pushed out the jobs themselves.
TEST_F(HistoryStoreTest, WhatReplicasUsePushesNothingOutWhileNothingCanBeWritten) {
  ASSERT_THAT(files_.MakeDirs(path()), IsOk());
  Start();
  store_->Put(JobOf("u1"));
  RunFor(seconds(1));
  const size_t before = store_->waiting_bytes();
  HistoryUsage usage{.uid = "u1", .sample = {}};
  for (int i = 0; i < 1'000; ++i) usage.sample.replicas[std::to_string(i)] = {.cpu = 1};
  for (int i = 0; i < 300; ++i) {
    usage.sample.at = i;
    store_->Put(usage);
  }
  EXPECT_EQ(store_->waiting_bytes(), before);
  ASSERT_THAT(files_.RemoveAll(path()), IsOk());
  RunFor(HistoryStore::kRetry * 2);
  EXPECT_THAT(*Uids(), ElementsAre("u1"));
  usage.sample.at = 1'000;
  store_->Put(usage);
  RunFor(seconds(1));
  std::string used;
  store_->Usage("u1", [&](const auto& read) { used = read.value_or(""); });
  RunFor(seconds(1));
  EXPECT_THAT(used, HasSubstr("1000"));
}

// The middle of the file is overwritten while nobody has it open.
TEST_F(HistoryStoreTest, AFileThatIsDamagedInsideIsPutAsideAndBegunAnew) {
  Start();
  for (int i = 0; i < 300; ++i) {
    HistoryJob job = JobOf("u" + std::to_string(i), i);
    job.detail = std::string(10'000, 'd');
    store_->Put(std::move(job));
  }
  RunFor(seconds(2));
  store_->Close([] {});
  RunFor(seconds(1));
  store_.reset();
  std::string text = *files_.ReadAll(path());
  ASSERT_GT(text.size(), 1'000'000u);
  std::fill(text.begin() + 40'960, text.end(), '\x5a');
  ASSERT_THAT(files_.WriteAtomically(path(), text), IsOk());
  Start();
  RunFor(seconds(1));
  Uids().IgnoreError();
  for (int i = 0; i < 300; ++i) {
    store_->Load("u" + std::to_string(i), {}, [](const auto&) {});
    RunFor(milliseconds(10));
  }
  store_->Put(JobOf("after"));
  RunFor(seconds(5));
  EXPECT_THAT(*Uids(), ElementsAre("after"));
  EXPECT_THAT(files_.Exists(path() + ".broken-1"), testing::Eq(absl::StatusOr<bool>(true)));
  ASSERT_FALSE(opened_.empty());
  EXPECT_THAT(opened_.back(), IsEmpty()) << "whoever records begins anew";
  EXPECT_EQ(store_->Trouble(), "");
}

TEST_F(HistoryStoreTest, OldJobsGoByThemselves) {
  Start({.days = 1});
  store_->Put(JobOf("u1", 1));
  RunFor(seconds(2));
  EXPECT_THAT(*Uids(), ElementsAre("u1"));
  RunFor(std::chrono::hours(24) + HistoryStore::kTrimEvery);
  EXPECT_THAT(*Uids(), IsEmpty());
}

TEST_F(HistoryStoreTest, ReadersBeyondWhatTheDiskBearsAreSentAway) {
  Start();
  RunFor(seconds(1));
  size_t well = 0, refused = 0;
  for (size_t i = 0; i < HistoryStore::kReadsMax + 5; ++i) {
    store_->Locate("u", [&](const auto& name) {
      if (name.ok()) ++well;
      if (absl::IsResourceExhausted(name.status())) ++refused;
    });
  }
  EXPECT_EQ(refused, 0u) << "inside the call";
  RunFor(seconds(1));
  EXPECT_EQ(well, HistoryStore::kReadsMax);
  EXPECT_EQ(refused, 5u);
}

TEST_F(HistoryStoreTest, WhatIsAnsweredAfterItHasGoneIsNobodys) {
  Start();
  bool called = false;
  store_->Locate("u", [&](const auto&) { called = true; });
  store_->Put(JobOf("u1"));
  store_.reset();
  RunFor(seconds(100));
  EXPECT_FALSE(called);
}

// As in the program: the disk has a thread of its own, and closing waits for it.
TEST(HistoryStoreThreadTest, WritesOnAThreadOfItsOwn) {
  std::string dir = testing::TempDir() + "/threads.XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  RealClock clock;
  for (int round = 0; round < 3; ++round) {
    ThreadExecutor executor(clock, "test"), disk(clock, "disk");
    HistoryStore store(executor, disk, {.path = dir + "/history.db"});
    std::promise<size_t> open;
    executor.Post([&] {
      store.Start([&](const std::vector<HistoryOpen>& jobs) { open.set_value(jobs.size()); });
      HistoryJob job = JobOf("u" + std::to_string(round));
      job.over = clock.WallNow();
      store.Put(std::move(job));
    });
    EXPECT_EQ(open.get_future().get(), static_cast<size_t>(round));
    executor.Stop();
    std::promise<void> closed;
    store.Close([&] { closed.set_value(); });
    closed.get_future().wait();
  }
}

}  // namespace
}  // namespace taas::dashboard
