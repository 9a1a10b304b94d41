#include "trainer/summary/event_file.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/crc32c.h"
#include "operator/base/fake_clock.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/formats/record_frame.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr uint64_t kAnySize = 1 << 20;

class EventFileTest : public testing::Test {
 protected:
  std::vector<summary::Event> Read(uint64_t size_max = kAnySize) {
    std::vector<summary::Event> events;
    EXPECT_THAT(ReadEvents(files_, dir_, size_max,
                           [&](const summary::Event& event) { events.push_back(event); }),
                IsOk());
    return events;
  }
  static summary::Summary Loss(float value) {
    summary::Summary numbers;
    numbers.add_value()->set_tag("loss");
    numbers.mutable_value(0)->set_simple_value(value);
    return numbers;
  }

  FakeClock clock_;
  PosixFileSystem files_;
  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
};

// The bytes that TensorFlow's own writer makes of this event.
TEST(RecordTest, FramesAreThoseOfTensorFlow) {
  const std::string data = "\x1a\x11" "CRC test, one two";
  const std::string record = FrameRecord(data);
  ASSERT_EQ(record.size(), 12 + data.size() + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x13\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(record.size() - 4), "\x8a\xd0\x94\x57");
}

TEST_F(EventFileTest, FirstEventIsTheVersionAndIsThereAtOnce) {
  const auto writer = EventWriter::Open(files_, clock_, dir_);
  ASSERT_THAT(writer, IsOk());
  const std::vector<summary::Event> events = Read();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_GT(events[0].wall_time(), 0);
  EXPECT_THAT((*writer)->path(), StartsWith(dir_ + "/events.out.tfevents."));
}

TEST_F(EventFileTest, WhatIsWrittenIsReadBackInOrder) {
  auto writer = EventWriter::Open(files_, clock_, dir_);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Start(clock_.WallNow(), 100), IsOk());
  ASSERT_THAT((*writer)->Write(clock_.WallNow(), 100, Loss(0.5f)), IsOk());
  const std::vector<summary::Event> events = Read();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].session_log().status(), summary::SessionLog::START);
  EXPECT_EQ(events[1].step(), 100);
  EXPECT_EQ(events[2].summary().value(0).tag(), "loss");
  EXPECT_EQ(events[2].summary().value(0).simple_value(), 0.5f);
}

// TensorBoard reads in the order of names and never looks at an older file again.
TEST_F(EventFileTest, LaterFileHasTheLaterNameEvenWithinOneSecondAndWithAClockThatWentBack) {
  std::vector<std::string> paths;
  for (int i = 0; i < 3; ++i) {
    const auto writer = EventWriter::Open(files_, clock_, dir_);
    ASSERT_THAT(writer, IsOk());
    paths.push_back((*writer)->path());
  }
  EXPECT_LT(paths[0], paths[1]);
  EXPECT_LT(paths[1], paths[2]);
}

TEST_F(EventFileTest, HalfARecordEndsItsFileAndNotTheOthers) {
  ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  summary::Event event;
  event.set_step(1);
  const std::string whole = FrameRecord(event.SerializeAsString());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/events.out.tfevents.0000000001.a",
                                     whole + whole.substr(0, whole.size() - 2)),
              IsOk());
  std::string damaged = whole;
  damaged[13] = static_cast<char>(damaged[13] ^ 1);
  ASSERT_THAT(
      files_.WriteAtomically(dir_ + "/events.out.tfevents.0000000002.a", damaged + whole), IsOk());
  event.set_step(2);
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/events.out.tfevents.0000000003.a",
                                     FrameRecord(event.SerializeAsString())),
              IsOk());
  std::vector<int64_t> steps;
  for (const summary::Event& read : Read()) steps.push_back(read.step());
  EXPECT_THAT(steps, ElementsAre(1, 2));
}

TEST_F(EventFileTest, LargeEventsArePassedOver) {
  auto writer = EventWriter::Open(files_, clock_, dir_);
  ASSERT_THAT(writer, IsOk());
  summary::Summary large = Loss(1);
  large.mutable_value(0)->set_tag(std::string(5'000, 'x'));
  ASSERT_THAT((*writer)->Write(clock_.WallNow(), 1, large), IsOk());
  ASSERT_THAT((*writer)->Write(clock_.WallNow(), 2, Loss(2)), IsOk());
  const std::vector<summary::Event> events = Read(4'096);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].step(), 2);
}

// "write PATH: write PATH: No space left on device".
TEST_F(EventFileTest, AWriteThatFailsIsToldInTheWordsOfTheFileSystemAlone) {
  FaultFileSystem files(files_);
  const auto writer = EventWriter::Open(files, clock_, dir_);
  ASSERT_THAT(writer, IsOk());
  files.FailAt(1, FaultFileSystem::Kind::kOnce);
  EXPECT_THAT((*writer)->Write(clock_.WallNow(), 1, Loss(1)),
              StatusIs(absl::StatusCode::kUnavailable, "injected fault at operation 1"));
}

// Symptom: a record whose length leads back to the beginning was passed over, and then the one
// before it read again, for ever.
TEST_F(EventFileTest, ALengthThatWrapsAroundEndsTheFile) {
  const std::string first = FrameRecord("\x10\x05");
  const uint64_t back = ~uint64_t{0} - first.size() - kRecordHeadBytes - kRecordFootBytes + 1;
  std::string head(reinterpret_cast<const char*>(&back), sizeof(back));
  const uint32_t crc = MaskedCrc32c(head);
  head.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
  ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/events.out.tfevents.1.h", first + head + "tail"),
              IsOk());
  EXPECT_EQ(Read().size(), 1u);
}

TEST_F(EventFileTest, DirectoryThatIsNotThereHasNoEvents) { EXPECT_TRUE(Read().empty()); }

}  // namespace
}  // namespace taas
