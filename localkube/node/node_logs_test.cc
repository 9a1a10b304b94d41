#include "localkube/node/node_logs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/node/container_log.h"
#include "localkube/node/container_run.h"
#include "localkube/node/log_pin.h"
#include "localkube/node/pod_dirs.h"
#include "operator/base/clock.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using testing::HasSubstr;

// Plays the shim of a run: what is on disk, and the lock.
class NodeLogsTest : public testing::Test {
 protected:
  NodeLogsTest()
      : dirs_(MakeDir()), logs_(disk_, dirs_), files_(dirs_.Run("u", "c", 0)) {
    Claim();
  }
  ~NodeLogsTest() override { Unlock(); }

  static std::string MakeDir() {
    std::string dir = testing::TempDir() + "/logsXXXXXX";
    EXPECT_NE(::mkdtemp(dir.data()), nullptr);
    return dir;
  }
  void Claim() {
    EXPECT_THAT(disk_.MakeDirs(files_.dir), IsOk());
    lock_ = TakeLock(files_.lock).value_or(-1);
    EXPECT_GE(lock_, 0);
    EXPECT_THAT(disk_.WriteAtomically(files_.started, ""), IsOk());
    EXPECT_THAT(WriteState(disk_, files_, {.pid = 1}), IsOk());
    log_ = std::make_unique<ContainerLog>(
        disk_, clock_,
        ContainerLog::Options{.path = files_.log, .file_bytes_max = 400});
  }
  void Write(const std::string& line) {
    EXPECT_THAT(log_->Append(LogStream::kStdout, line + "\n"), IsOk());
  }
  // As many lines as `parts` full parts have.
  void WriteParts(int parts) {
    for (int i = 0; i < parts * kLinesPerPart; ++i) Write("line " + std::to_string(++written_));
  }
  void Unlock() {
    if (lock_ >= 0) ::close(std::exchange(lock_, -1));
  }
  void End() {
    EXPECT_THAT(WriteExit(disk_, files_, {.exit_code = 0, .reason = "Completed"}), IsOk());
    Unlock();
  }
  std::unique_ptr<LogReader> Open(std::optional<uint64_t> tail = {}) {
    auto reader = logs_.Open(
        {.ns = "default", .pod = "a", .uid = "u", .container = "c", .tail = tail});
    EXPECT_THAT(reader, IsOk());
    return reader.ok() ? *std::move(reader) : nullptr;
  }
  // What there is now, by its texts; "END" where it has ended.
  static std::string ReadAll(LogReader* reader, size_t size_max = 1 << 20) {
    std::string out;
    for (;;) {
      const auto chunk = reader->Read(size_max);
      if (!chunk.ok()) return out + "ERROR";
      for (size_t begin = 0; begin < chunk->data.size();) {
        const size_t end = chunk->data.find('\n', begin);
        out += chunk->data.substr(begin + 40, end - begin - 40) + "\n";
        begin = end + 1;
      }
      if (chunk->ended) return out + "END";
      if (chunk->data.empty()) return out;
    }
  }
  std::string Lines(int from, int to) {
    std::string out;
    for (int i = from; i <= to; ++i) out += "line " + std::to_string(i) + "\n";
    return out;
  }

  // 400 bytes and 47 to 48 of each line.
  static constexpr int kLinesPerPart = 9;
  PosixFileSystem disk_;
  RealClock clock_;
  const PodDirs dirs_;
  NodeLogs logs_;
  RunFiles files_;
  int lock_ = -1;
  int written_ = 0;
  std::unique_ptr<ContainerLog> log_;
};

TEST_F(NodeLogsTest, AFollowedLogEndsWithItsRunAndNotBefore) {
  const auto reader = Open();
  EXPECT_EQ(ReadAll(reader.get()), "");
  Write("one");
  EXPECT_EQ(ReadAll(reader.get()), "one\n");
  EXPECT_EQ(ReadAll(reader.get()), "");
  Write("two");
  End();
  EXPECT_EQ(ReadAll(reader.get()), "two\nEND");
}

// Symptom: `kubectl logs -f` of a pod that was deleted never ended: what said that the container
// had ended was gone before anybody looked.
TEST_F(NodeLogsTest, ItEndsWithAllLinesHoweverMuchOfTheRunIsGone) {
  const std::vector<std::string> names = {files_.exit,  files_.state, files_.lock,
                                          files_.started, files_.log, files_.dir};
  for (size_t first = 0; first < names.size(); ++first) {
    Write("one");
    const auto reader = Open();
    EXPECT_EQ(ReadAll(reader.get()), "one\n");
    Write("two");
    End();
    // In any order, as a directory is removed.
    for (size_t gone = 0; gone < names.size(); ++gone) {
      ASSERT_THAT(disk_.RemoveAll(names[(first + gone) % names.size()]), IsOk());
      const auto look = LookAtRun(disk_, files_);
      ASSERT_THAT(look, IsOk());
      EXPECT_TRUE(look->phase == RunPhase::kEnded || look->phase == RunPhase::kNew);
      EXPECT_FALSE(gone + 1 == names.size() && disk_.Exists(files_.exit).value_or(true))
          << "a look has written";
    }
    EXPECT_EQ(ReadAll(reader.get()), "two\nEND") << names[first] << " went first";
    Claim();
  }
}

TEST_F(NodeLogsTest, ItEndsWhenTheShimWasKilledAndWritesNoRecordOfThat) {
  const auto reader = Open();
  Write("one");
  Unlock();
  EXPECT_EQ(ReadAll(reader.get()), "one\nEND");
  EXPECT_FALSE(disk_.Exists(files_.exit).value_or(true)) << "that is the node's to do";
}

TEST_F(NodeLogsTest, WhoReadsKeepsTheDirectoryUntilTheEnd) {
  EXPECT_FALSE(IsBeingRead(dirs_.Pod("u")));
  auto reader = Open();
  EXPECT_TRUE(IsBeingRead(dirs_.Pod("u")));
  Write("one");
  End();
  EXPECT_TRUE(IsBeingRead(dirs_.Pod("u"))) << "not read yet";
  EXPECT_EQ(ReadAll(reader.get()), "one\nEND");
  EXPECT_FALSE(IsBeingRead(dirs_.Pod("u")));
  reader = Open();
  EXPECT_TRUE(IsBeingRead(dirs_.Pod("u")));
  reader.reset();
  EXPECT_FALSE(IsBeingRead(dirs_.Pod("u"))) << "gone without reading";
}

// Symptom: a client that read slower than the program wrote lost a whole part of the log, though it
// was still kept: after two rotations the one between was skipped.
TEST_F(NodeLogsTest, ASlowReaderGetsEveryPartThatIsStillKept) {
  for (int rotations = 0; rotations < kLogFilesMax; ++rotations) {
    WriteParts(1);
    const int from = written_ + 1;
    const auto reader = Open(0);
    Write("line " + std::to_string(++written_));
    WriteParts(rotations);
    EXPECT_EQ(ReadAll(reader.get(), 1), Lines(from, written_)) << rotations << " rotations";
  }
  // More than is kept: what is left, in order.
  const auto reader = Open(0);
  const int from = written_ + 1;
  WriteParts(10);
  End();
  const std::string text = ReadAll(reader.get());
  EXPECT_EQ(text.find("line " + std::to_string(from) + "\n"), 0u) << "what was open is still read";
  const std::string end = Lines(written_ - 2 * kLinesPerPart, written_) + "END";
  EXPECT_EQ(text.substr(text.size() - end.size()), end);
}

TEST_F(NodeLogsTest, LinesWrittenWhileAPartIsClosedAreNotLost) {
  const auto reader = Open();
  std::string text;
  for (int i = 1; i <= 500; ++i) {
    Write("line " + std::to_string(i));
    if (i % 3 == 0) text += ReadAll(reader.get());
  }
  End();
  text += ReadAll(reader.get());
  EXPECT_EQ(text, Lines(1, 500) + "END");
}

// Symptom: a container that replaced its log by a pipe hung all threads that answered for logs.
TEST_F(NodeLogsTest, ALogThatIsAPipeOrALinkIsEmptyAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(files_.log.c_str(), 0600), 0);
  const auto reader = Open(10);
  EXPECT_EQ(ReadAll(reader.get()), "");
  ASSERT_THAT(disk_.Remove(files_.log), IsOk());
  ASSERT_EQ(::symlink("/etc/passwd", files_.log.c_str()), 0);
  EXPECT_EQ(ReadAll(reader.get()), "");
  End();
  EXPECT_EQ(ReadAll(reader.get()), "END");
}

TEST_F(NodeLogsTest, ARunThatHasNotStartedShowsTheOneBeforeIt) {
  Write("one");
  End();
  ASSERT_THAT(disk_.MakeDirs(dirs_.Run("u", "c", 1).dir), IsOk());
  EXPECT_EQ(ReadAll(Open().get()), "one\nEND");
  LogRequest request = {.ns = "default", .pod = "a", .uid = "u", .container = "c", .run = 0};
  const auto first = logs_.Open(request);
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(ReadAll(first->get()), "one\nEND");
  for (const int later : {1, 2}) {
    request.run = later;
    EXPECT_THAT(logs_.Open(request), StatusIs(absl::StatusCode::kFailedPrecondition)) << later;
  }
  const auto none = logs_.Open({.ns = "default", .pod = "a", .uid = "u", .container = "d"});
  EXPECT_THAT(none, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has not started")));
}

}  // namespace
}  // namespace taas::localkube
