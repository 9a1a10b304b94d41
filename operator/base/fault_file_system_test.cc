#include "operator/base/fault_file_system.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

TEST(FaultFileSystemTest, OneFaultTearsOneAppend) {
  PosixFileSystem posix;
  FaultFileSystem files(posix);
  const std::string path = ::testing::TempDir() + "/once";
  files.FailAt(2, FaultFileSystem::Kind::kOnce);
  auto file = files.OpenWrite(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Append("12345678"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT((*file)->Close(), IsOk());
  EXPECT_EQ(*posix.ReadAll(path), "1234");
}

TEST(FaultFileSystemTest, AfterACrashNothingReachesTheDisk) {
  PosixFileSystem posix;
  FaultFileSystem files(posix);
  const std::string path = ::testing::TempDir() + "/crash";
  files.FailAt(2, FaultFileSystem::Kind::kCrash);
  auto file = files.OpenWrite(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_FALSE((*file)->Append("1234").ok());
  EXPECT_FALSE((*file)->Append("5678").ok());
  EXPECT_FALSE(files.Rename(path, path + "2").ok());
  EXPECT_EQ(*posix.ReadAll(path), "12");
  EXPECT_EQ(files.operations(), 4);
}

}  // namespace
}  // namespace taas
