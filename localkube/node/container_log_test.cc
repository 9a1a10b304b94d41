#include "localkube/node/container_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/random.h"
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
  EXPECT_EQ(LogPart(path_, 2), path_ + ".2");
}

TEST_F(ContainerLogTest, TheTailHasTheLastLinesWithoutTimes) {
  ContainerLog log(disk_, clock_, {.path = path_});
  ASSERT_THAT(log.Append(LogStream::kStdout, "a\nb c\nd\n"), IsOk());
  EXPECT_EQ(LogTail(path_, 2, 100), "b c\nd\n");
  EXPECT_EQ(LogTail(path_, 2, 4), "c\nd\n");
  EXPECT_EQ(LogTail(path_ + "missing", 2, 4), "");
}

// Symptom: a program that died just after its log had begun a new part left no last words, and a
// long last line came in pieces.
TEST_F(ContainerLogTest, TheTailGoesBackOverPartsAndJoinsTheRecordsOfALine) {
  ContainerLog log(disk_, clock_, {.path = path_, .file_bytes_max = 100});
  for (const char* line : {"one\n", "two\n", "three\n"}) {
    ASSERT_THAT(log.Append(LogStream::kStderr, line), IsOk());
  }
  EXPECT_EQ(Read(), "(no file)") << "the newest part is yet to come";
  EXPECT_EQ(LogTail(path_, 2, 100), "two\nthree\n");
  const std::string end(100, 'y');
  ContainerLog next(disk_, clock_, {.path = path_});
  const std::string line = std::string(kLineBytesMax, 'x') + end + "\n";
  ASSERT_THAT(next.Append(LogStream::kStderr, line), IsOk());
  EXPECT_EQ(LogTail(path_, 1, 200), std::string(99, 'x') + end + "\n");
}

// As the first record of a line is found, however many records it has and where blocks end.
TEST_F(ContainerLogTest, TheTailBeginsWithAWholeLine) {
  ContainerLog log(disk_, clock_, {.path = path_});
  SeededRandom random(7);
  for (int line = 0; line < 300; ++line) {
    const bool is_long = random.Next() % 20 == 0;
    const std::string text(random.Next() % (is_long ? 5 * kLineBytesMax : 100), 'F');
    ASSERT_THAT(log.Append(LogStream::kStdout, text + "\n"), IsOk());
  }
  const std::string all = Read();
  ASSERT_GT(all.size(), 600'000u) << "several blocks";
  std::vector<uint64_t> begins = {0};  // Of lines, and the end.
  for (size_t at = 0; at < all.size(); at = all.find('\n', at) + 1) {
    if (all[at + 38] == 'F') begins.push_back(all.find('\n', at) + 1);
  }
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const size_t lines = begins.size() - 1;
  ASSERT_EQ(lines, 300u);
  for (uint64_t tail = 0; tail < lines; ++tail) {
    uint64_t left = tail;
    EXPECT_EQ(BeginOfTail(fd, &left), begins[lines - tail]) << tail;
  }
  for (const uint64_t more : {0, 5}) {
    uint64_t left = lines + more;
    EXPECT_EQ(BeginOfTail(fd, &left), std::nullopt);
    EXPECT_EQ(left, more) << "of the file before";
  }
  ::close(fd);
}

}  // namespace
}  // namespace taas::localkube
