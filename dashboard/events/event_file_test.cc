#include "dashboard/events/event_file.h"

#include <unistd.h>

#include "dashboard/events/fake_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/crc32c.h"
#include "operator/base/fake_directory.h"
#include "operator/base/status_matchers.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kAll = UINT64_MAX;
constexpr char kName[] = "events.out.tfevents.1";

class EventFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<uint64_t> Read(uint64_t most = kAll) {
    return file_.Read(directory_, most, &buffer_, [this](std::string_view data) {
      records_.emplace_back(data);
      return data == "odd" ? std::string("is odd") : std::string();
    });
  }

  std::vector<std::string> Problems() const {
    std::vector<std::string> out;
    for (const Problem& problem : file_.Problems()) {
      EXPECT_EQ(problem.file, kName);
      out.push_back(std::to_string(problem.byte) + " " + problem.what);
    }
    return out;
  }

  // The head of a record of this length, with the right checksum.
  static std::string Head(uint64_t length) {
    std::string head(reinterpret_cast<const char*>(&length), sizeof(length));
    const uint32_t checksum = MaskedCrc32c(head);
    return head + std::string(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  }

  FakeDirectory fake_;
  Directory directory_ = Directory::Open(fake_.path(), Links::kRefused).value();
  ReadBuffer buffer_;
  EventFile file_{kName};
  std::vector<std::string> records_;
};

TEST_F(EventFileTest, RecordsAreReadOnceAndInOrder) {
  fake_.Write(kName, FramedRecord("a") + FramedRecord("") + FramedRecord("ccc"));
  EXPECT_EQ(Read().value(), 3 * 16u + 4);
  EXPECT_THAT(records_, ElementsAre("a", "", "ccc"));
  EXPECT_EQ(Read().value(), 0u);
  EXPECT_THAT(records_, SizeIs(3));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(EventFileTest, AFileThatIsEmptyOrNotThereHasNoRecords) {
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kNotFound));
  fake_.Write(kName, "");
  EXPECT_EQ(Read().value(), 0u);
  EXPECT_THAT(records_, IsEmpty());
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(EventFileTest, AFileThatIsCutAtAnyByteIsReadOnWhenTheRestHasCome) {
  const std::string whole = FramedRecord("first") + FramedRecord("") + FramedRecord("the third");
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    records_.clear();
    fake_.Write(kName, whole.substr(0, cut));
    EventFile file(kName);
    const auto add = [this](std::string_view data) {
      records_.emplace_back(data);
      return std::string();
    };
    ASSERT_THAT(file.Read(directory_, kAll, &buffer_, add), IsOk()) << cut;
    EXPECT_THAT(file.Problems(), IsEmpty()) << cut;
    fake_.Append(kName, whole.substr(cut));
    ASSERT_THAT(file.Read(directory_, kAll, &buffer_, add), IsOk()) << cut;
    ASSERT_THAT(records_, ElementsAre("first", "", "the third")) << cut;
    EXPECT_THAT(file.Problems(), IsEmpty()) << cut;
  }
}

TEST_F(EventFileTest, RecordsLargerThanTheWindowAreReadWhole) {
  const std::string large(3 * kWindowBytes + 1, 'x');
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += FramedRecord(std::string(100 + i % 7, 'y'));
  fake_.Write(kName, FramedRecord("a") + FramedRecord(large) + many + FramedRecord("z"));
  ASSERT_THAT(Read(), IsOk());
  ASSERT_THAT(records_, SizeIs(5'003));
  EXPECT_EQ(records_[1], large);
  EXPECT_EQ(records_.back(), "z");
}

TEST_F(EventFileTest, ARecordWithDamagedDataIsLeftOut) {
  std::string damaged = FramedRecord("damaged");
  damaged[14] ^= 1;
  fake_.Write(kName, FramedRecord("a") + damaged + FramedRecord("c"));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a", "c"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("17 the data of this record")));
}

// On a network's disk the last bytes may come later than the size of the file.
TEST_F(EventFileTest, DamagedDataOfTheLastRecordAreLookedAtAgain) {
  const std::string good = FramedRecord("a") + FramedRecord("last");
  std::string bad = good;
  for (size_t i = bad.size() - 8; i < bad.size(); ++i) bad[i] = '\0';
  fake_.Write(kName, bad);
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("17 the data of this record")));
  fake_.Write(kName, good + FramedRecord("next"));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a", "last", "next"));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(EventFileTest, ADamagedLengthEndsTheFileAndIsTriedAgainWhenItChanges) {
  const std::string good = FramedRecord("b");
  std::string bad = good;
  bad[0] ^= 1;
  fake_.Write(kName, FramedRecord("a") + bad + FramedRecord("c"));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("17 the length of this record is damaged")));
  fake_.Write(kName, FramedRecord("a") + good + FramedRecord("c") + FramedRecord("d"));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(EventFileTest, ZerosAtTheEndAreToldOnceAndReadWhenTheyAreWritten) {
  fake_.Write(kName, FramedRecord("a") + std::string(4096, '\0'));
  ASSERT_THAT(Read(), IsOk());
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("17 zeros stand where a record should begin")));
  fake_.Write(kName, FramedRecord("a") + FramedRecord("b") + std::string(4096, '\0'));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a", "b"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("34 zeros")));
}

TEST_F(EventFileTest, AHugeLengthTakesNoMemory) {
  fake_.Write(kName, FramedRecord("a") + Head(UINT64_MAX - 3) + "rest");
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("17 the length of this record is damaged")));
  EXPECT_LE(buffer_.capacity, 2 * kWindowBytes);
}

TEST_F(EventFileTest, ARecordBeyondTheLimitIsPassedOverOnceItIsWhole) {
  const uint64_t length = kRecordBytesMax + 1;
  fake_.Write(kName, FramedRecord("a") + Head(length) + "data");
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(Problems(), IsEmpty());
  // Sparse: the disk holds nothing of it.
  ASSERT_EQ(::truncate((fake_.path() + "/" + kName).c_str(), 17 + 12 + length + 4), 0);
  fake_.Append(kName, FramedRecord("b"));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a", "b"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("17 this record has 67108881 bytes")));
  EXPECT_LE(buffer_.capacity, 2 * kWindowBytes);
  fake_.Append(kName, FramedRecord("c"));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, ElementsAre("a", "b", "c"));
}

TEST_F(EventFileTest, WhatIsWrongInsideARecordIsToldWithItsPlace) {
  fake_.Write(kName, FramedRecord("a") + FramedRecord("odd") + FramedRecord("c"));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(records_, SizeIs(3));
  EXPECT_THAT(Problems(), ElementsAre("17 is odd"));
}

TEST_F(EventFileTest, ManyProblemsAreCountedRatherThanTold) {
  std::string bytes;
  for (size_t i = 0; i < kProblemsMax + 7; ++i) bytes += FramedRecord("odd");
  fake_.Write(kName, bytes);
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(Problems(), SizeIs(kProblemsMax + 1));
  EXPECT_THAT(Problems().back(), HasSubstr("and 7 more"));
}

TEST_F(EventFileTest, ReadingStopsAfterSoManyBytesAndGoesOn) {
  std::string bytes;
  for (int i = 0; i < 10; ++i) bytes += FramedRecord("x");
  fake_.Write(kName, bytes);
  EXPECT_EQ(Read(20).value(), 34u);
  EXPECT_TRUE(file_.has_more());
  EXPECT_EQ(Read(0).value(), 0u);
  EXPECT_TRUE(file_.has_more());
  EXPECT_EQ(Read(kAll).value(), 8 * 17u);
  EXPECT_FALSE(file_.has_more());
  EXPECT_THAT(records_, SizeIs(10));
}

TEST_F(EventFileTest, AFileThatIsShorterOrAnotherOneOrGoneIsReplaced) {
  const std::string two = FramedRecord("a") + FramedRecord("b");
  fake_.Write(kName, two);
  EXPECT_FALSE(file_.IsReplaced(directory_));
  ASSERT_THAT(Read(), IsOk());
  EXPECT_FALSE(file_.IsReplaced(directory_));
  fake_.Write(kName, FramedRecord("a"));
  EXPECT_TRUE(file_.IsReplaced(directory_));
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kAborted));

  fake_.Write(kName, two);
  EXPECT_FALSE(file_.IsReplaced(directory_));
  fake_.Replace(kName, two + FramedRecord("c"));
  EXPECT_TRUE(file_.IsReplaced(directory_));
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kAborted));
  fake_.Remove(kName);
  EXPECT_TRUE(file_.IsReplaced(directory_));
}

// Symptom: a file that was emptied and written anew in place, and is longer than before, would be
// read on in the middle of a record.
TEST_F(EventFileTest, AFileThatWasWrittenAnewInPlaceIsReplaced) {
  fake_.Write(kName, FramedRecord("a") + FramedRecord("b"));
  ASSERT_THAT(Read(), IsOk());
  fake_.Write(kName, FramedRecord("c") + FramedRecord("d") + FramedRecord("e"));
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kAborted, HasSubstr(kName)));
}

}  // namespace
}  // namespace taas::dashboard
