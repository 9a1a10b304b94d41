#include "trainer/cuda/plan_store.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas::cuda {
namespace {

using std::string_literals::operator""s;

class PlanStoreTest : public testing::Test {
 protected:
  std::string NewFolder() {
    static int folders = 0;
    return testing::TempDir() + "/plans" + std::to_string(++folders);
  }
  std::string ReadFile(const std::string& path) {
    auto text = files_.ReadAll(path);
    EXPECT_THAT(text, IsOk());
    return text.ok() ? *text : "";
  }
  void WriteFile(const std::string& path, const std::string& text) {
    EXPECT_THAT(files_.WriteAtomically(path, text), IsOk());
  }
  PosixFileSystem files_;
};

TEST_F(PlanStoreTest, WhatIsWrittenIsReadAgainByTheNext) {
  const std::string folder = NewFolder();
  const std::string plan = "{\"kernels\": \"\n\0\xff\"}"s;
  {
    const PlanStore store(files_, folder);
    EXPECT_EQ(store.Read("a shape"), std::nullopt);
    store.Write("a shape", plan);
    store.Write("another", "other");
  }
  const PlanStore store(files_, folder);
  EXPECT_EQ(store.Read("a shape"), plan);
  EXPECT_EQ(store.Read("another"), "other");
  EXPECT_EQ(store.Read("a third"), std::nullopt);
  store.Write("another", "newer");
  EXPECT_EQ(store.Read("another"), "newer");
}

TEST_F(PlanStoreTest, WithoutAFolderNothingIsKept) {
  const PlanStore store(files_, "");
  store.Write("a shape", "plan");
  EXPECT_EQ(store.Read("a shape"), std::nullopt);
}

TEST_F(PlanStoreTest, AFileThatIsDamagedAnywhereIsAsNone) {
  const PlanStore store(files_, NewFolder());
  store.Write("a shape", "{\"plan\": 1}");
  const std::string path = store.PathOf("a shape"), whole = ReadFile(path);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    WriteFile(path, damaged);
    EXPECT_EQ(store.Read("a shape"), std::nullopt) << "byte " << at;
    WriteFile(path, whole.substr(0, at));
    EXPECT_EQ(store.Read("a shape"), std::nullopt) << "so many bytes: " << at;
  }
  WriteFile(path, whole + "x");
  EXPECT_EQ(store.Read("a shape"), std::nullopt);
  WriteFile(path, whole);
  EXPECT_EQ(store.Read("a shape"), "{\"plan\": 1}");
}

TEST_F(PlanStoreTest, AFileOfSomethingElseIsAsNone) {
  const PlanStore store(files_, NewFolder());
  store.Write("a shape", "one");
  store.Write("another", "two");
  WriteFile(store.PathOf("a shape"), ReadFile(store.PathOf("another")));
  EXPECT_EQ(store.Read("a shape"), std::nullopt);
  WriteFile(store.PathOf("a shape"), "what somebody else keeps here\n");
  EXPECT_EQ(store.Read("a shape"), std::nullopt);
}

TEST_F(PlanStoreTest, AFileThatIsTooLongIsNeitherReadNorWritten) {
  const PlanStore store(files_, NewFolder());
  store.Write("a shape", std::string(PlanStore::kFileBytesMax, 'x'));
  EXPECT_THAT(files_.OpenRead(store.PathOf("a shape")), StatusIs(absl::StatusCode::kNotFound));
  store.Write("a shape", "plan");
  WriteFile(store.PathOf("a shape"), ReadFile(store.PathOf("a shape")) +
                                         std::string(PlanStore::kFileBytesMax, 'x'));
  EXPECT_EQ(store.Read("a shape"), std::nullopt);
}

TEST_F(PlanStoreTest, ADiskThatFailsLeavesTheOldPlanOrTheNewOne) {
  FaultFileSystem faults(files_);
  const PlanStore store(faults, NewFolder());
  store.Write("a shape", "old");
  for (int at = 1;; ++at) {
    PlanStore(files_, store.folder()).Write("a shape", "old");
    faults.FailAt(at, FaultFileSystem::Kind::kCrash);
    store.Write("a shape", "new");
    const bool failed = faults.operations() >= at;
    const auto plan = PlanStore(files_, store.folder()).Read("a shape");
    EXPECT_TRUE(plan == "new" || (failed && plan == "old")) << at;
    if (failed) continue;
    EXPECT_GT(at, 3) << "a name, some bytes, a disk that has them";
    break;
  }
}

}  // namespace
}  // namespace taas::cuda
