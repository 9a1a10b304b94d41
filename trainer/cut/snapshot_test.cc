#include "trainer/cut/snapshot.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SnapshotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::unique_ptr<SnapshotStore> Store(const std::string& data) {
    auto store = SnapshotStore::Open(
        files_, clock_,
        {.dir = dir_,
         .uid = "uid",
         .shape = {.variables = {{.name = "w", .dims = {2}, .count = 2}}, .data = data},
         .on_listed = [this](const auto& listed) { listed_ = listed; }});
    EXPECT_THAT(store, IsOk());
    return store.ok() ? *std::move(store) : nullptr;
  }
  void Save(const std::string& data) {
    Snapshot snapshot{.values = {{1, 2}}, .slots = {}, .committed = {}, .step = 3};
    const auto store = Store(data);
    ASSERT_THAT(store->Save(snapshot), IsOk());
    ASSERT_THAT(store->Release(), IsOk());
  }

  RealClock clock_;
  PosixFileSystem files_;
  std::string dir_;
  std::vector<CheckpointDir::Listed> listed_;
};

TEST_F(SnapshotTest, WhoWantsToKnowIsToldOfCheckpointsAfterASaveAndAfterALoad) {
  Save("d");
  ASSERT_EQ(listed_.size(), 1u);
  EXPECT_EQ(listed_[0].step, 3);
  EXPECT_GT(listed_[0].bytes, 0);
  EXPECT_TRUE(listed_[0].saved_at.has_value());
  listed_.clear();
  Snapshot loaded;
  EXPECT_THAT(Store("d")->Load(&loaded), IsOk());
  ASSERT_EQ(listed_.size(), 1u);
  EXPECT_EQ(listed_[0].step, 3);
}

// Symptom: a file that was added between two runs changed the order of examples, and nobody saw it.
TEST_F(SnapshotTest, ACheckpointOfOtherDataIsRefusedAndBothAreNamed) {
  Save("6 examples in file a, 9 bytes");
  Snapshot loaded;
  EXPECT_THAT(Store("6 examples in file a, 9 bytes")->Load(&loaded), IsOk());
  EXPECT_EQ(loaded.step, 3);
  EXPECT_THAT(Store("7 examples in 2 files, a to b")->Load(&loaded),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(dir_), HasSubstr("it had 6 examples in file a, 9 bytes; the "
                                                        "job has 7 examples in 2 files, a to b"),
                             HasSubstr("another checkpoint directory"))));
  EXPECT_THAT(Store("")->Load(&loaded), IsOk()) << "of who only looks";
}

TEST_F(SnapshotTest, ACheckpointWithoutSuchAWordGoesWithAnyData) {
  Save("");
  Snapshot loaded;
  EXPECT_THAT(Store("6 examples in file a, 9 bytes")->Load(&loaded), IsOk());
}

}  // namespace
}  // namespace taas
