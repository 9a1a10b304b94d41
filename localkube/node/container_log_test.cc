#include "localkube/node/container_log.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using namespace std::chrono_literals;

class ContainerLogTest : public testing::Test {
 protected:
  ContainerLogTest() {
    std::string dir = testing::TempDir() + "/logXXXXXX";
    EXPECT_NE(::mkdtemp(dir.data()), nullptr);
    path_ = dir + "/log";
  }
  std::string Read(const std::string& suffix = "") {
    return disk_.ReadAll(path_ + suffix).value_or("(no file)");
  }

  PosixFileSystem disk_;
  FakeClock clock_;
  std::string path_;
};

TEST_F(ContainerLogTest, LinesCutAnywhereAreWrittenWholeWithTimeAndStream) {
  ContainerLog log(disk_, clock_, {.path = path_});
  ASSERT_THAT(log.Append(LogStream::kStdout, "one\ntw"), IsOk());
  clock_.Advance(1500ms);
  ASSERT_THAT(log.Append(LogStream::kStderr, "err\n"), IsOk());
  ASSERT_THAT(log.Append(LogStream::kStdout, "o\n\nrest"), IsOk());
  ASSERT_THAT(log.Finish(), IsOk());
  EXPECT_EQ(Read(),
            "2026-01-01T00:00:00.000000000Z stdout F one\n"
            "2026-01-01T00:00:01.500000000Z stderr F err\n"
            "2026-01-01T00:00:01.500000000Z stdout F two\n"
            "2026-01-01T00:00:01.500000000Z stdout F \n"
            "2026-01-01T00:00:01.500000000Z stdout F rest\n");
}

TEST_F(ContainerLogTest, ALineThatIsTooLongBecomesPartialRecords) {
  ContainerLog log(disk_, clock_, {.path = path_});
  ASSERT_THAT(log.Append(LogStream::kStdout, std::string(kLineBytesMax, 'x') + "end\n"), IsOk());
  EXPECT_EQ(Read(), "2026-01-01T00:00:00.000000000Z stdout P " + std::string(kLineBytesMax, 'x') +
                        "\n2026-01-01T00:00:00.000000000Z stdout F end\n");
}

TEST_F(ContainerLogTest, AFullFileIsRenamedAndOnlyTheLastFilesAreKept) {
  ContainerLog log(disk_, clock_, {.path = path_, .file_bytes_max = 40, .files_max = 3});
  for (const char* line : {"1\n", "2\n", "3\n", "4\n", "5\n"}) {
    ASSERT_THAT(log.Append(LogStream::kStdout, line), IsOk());
  }
  EXPECT_THAT(Read(".2"), testing::HasSubstr("F 4"));
  EXPECT_THAT(Read(".1"), testing::HasSubstr("F 5"));
  EXPECT_EQ(Read(".3"), "(no file)");
  EXPECT_THAT(LogFiles(disk_, path_), testing::ElementsAre(path_ + ".2", path_ + ".1"));
}

TEST_F(ContainerLogTest, TheTailHasTheLastLinesWithoutTimes) {
  ContainerLog log(disk_, clock_, {.path = path_});
  ASSERT_THAT(log.Append(LogStream::kStdout, "a\nb c\nd\n"), IsOk());
  EXPECT_EQ(LogTail(disk_, path_, 2, 100), "b c\nd\n");
  EXPECT_EQ(LogTail(disk_, path_, 2, 4), "c\nd\n");
  EXPECT_EQ(LogTail(disk_, path_ + "missing", 2, 4), "");
}

}  // namespace
}  // namespace taas::localkube
