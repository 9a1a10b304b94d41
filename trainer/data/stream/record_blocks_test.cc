#include "trainer/data/stream/record_blocks.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/example.h"
#include "trainer/data/gzip.h"
#include "trainer/data/record_file.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class RecordBlocksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  }
  // Examples whose label and only feature are their number.
  std::string Put(const std::string& name, int64_t first, int64_t count) {
    const std::string path = dir_ + "/" + name;
    auto writer = RecordWriter::Open(files_, path);
    EXPECT_THAT(writer, IsOk());
    for (int64_t i = first; i < first + count; ++i) {
      ExampleBuilder builder;
      const float value = static_cast<float>(i);
      builder.AddFloats("x", {&value, 1});
      builder.AddInts("y", {&i, 1});
      EXPECT_THAT((*writer)->Append(builder.Take()), IsOk());
    }
    EXPECT_THAT((*writer)->Close(), IsOk());
    return path;
  }
  void Change(const std::string& path, size_t at, char by) {
    std::string text = *files_.ReadAll(path);
    text[at] = static_cast<char>(text[at] ^ by);
    ASSERT_THAT(files_.WriteAtomically(path, text), IsOk());
  }
  size_t SizeOf(const std::string& path) { return files_.ReadAll(path)->size(); }
  static RecordBlocks::Options By(int64_t block_examples, bool skip_bad = false) {
    return {.data = {.reader = {.skip_bad = skip_bad},
                     .features = {{.name = "x"}, {.name = "y", .kind = FeatureKind::kInt64}},
                     .label = "y",
                     .classes = 100},
            .block_examples = block_examples};
  }
  static std::vector<float> Values(const RecordBlocks& blocks, int64_t block) {
    const auto set = blocks.Load(block);
    EXPECT_THAT(set, IsOk());
    std::vector<float> values;
    for (int64_t i = 0; set.ok() && i < set->examples(); ++i) {
      set->GatherFeatures(std::array{i}, &values.emplace_back());
      EXPECT_EQ(static_cast<float>(set->labels()[static_cast<size_t>(i)]), values.back());
    }
    return values;
  }

  PosixFileSystem files_;
  std::string dir_;
};

TEST_F(RecordBlocksTest, BlocksGoOnFromFileToFile) {
  const std::vector<std::string> paths = {Put("a", 0, 5), Put("b", 5, 1), Put("c", 6, 4)};
  const auto blocks = RecordBlocks::Open(files_, paths, By(4));
  ASSERT_THAT(blocks, IsOk());
  EXPECT_EQ((*blocks)->examples(), 10);
  ASSERT_EQ((*blocks)->blocks(), 3);
  EXPECT_THAT(Values(**blocks, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Values(**blocks, 1), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Values(**blocks, 2), ElementsAre(8, 9));
}

TEST_F(RecordBlocksTest, ABlockMayEndWhereAFileEnds) {
  const auto blocks = RecordBlocks::Open(files_, {Put("a", 0, 4), Put("b", 4, 4)}, By(4));
  ASSERT_THAT(blocks, IsOk());
  EXPECT_THAT(Values(**blocks, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Values(**blocks, 1), ElementsAre(4, 5, 6, 7));
}

TEST_F(RecordBlocksTest, FilesAreLookedAtByThreads) {
  std::vector<std::string> paths;
  for (int64_t i = 0; i < 20; ++i) paths.push_back(Put("f" + std::to_string(i), 3 * i, 3));
  RecordBlocks::Options options = By(7);
  options.threads = 4;
  const auto blocks = RecordBlocks::Open(files_, paths, options);
  ASSERT_THAT(blocks, IsOk());
  std::vector<float> all;
  for (int64_t block = 0; block < (*blocks)->blocks(); ++block) {
    for (const float value : Values(**blocks, block)) all.push_back(value);
  }
  ASSERT_EQ(all.size(), 60u);
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(all[i], static_cast<float>(i));
}

// Records of more than a page, and heads at every place of one.
TEST_F(RecordBlocksTest, HeadsAreFoundWhereverTheyLie) {
  const std::string path = dir_ + "/sizes";
  auto writer = RecordWriter::Open(files_, path);
  ASSERT_THAT(writer, IsOk());
  int64_t count = 0;
  for (size_t size = 0; size < 9000; size += 1 + size / 7) {
    ExampleBuilder builder;
    const float value = static_cast<float>(count);
    builder.AddFloats("x", {&value, 1});
    builder.AddInts("y", {&count, 1});
    builder.AddBytes("filling", std::string(size, 'x'));
    ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
    ++count;
  }
  ASSERT_THAT((*writer)->Close(), IsOk());
  const auto blocks = RecordBlocks::Open(files_, {path}, By(1));
  ASSERT_THAT(blocks, IsOk());
  ASSERT_EQ((*blocks)->blocks(), count);
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_THAT(Values(**blocks, i), ElementsAre(static_cast<float>(i)));
  }
}

TEST_F(RecordBlocksTest, WrongDataIsFoundWhenItsBlockIsReadAndNamed) {
  const std::string path = Put("a", 0, 6);
  const size_t record = SizeOf(path) / 6;
  Change(path, 4 * record + 20, 1);
  const auto blocks = RecordBlocks::Open(files_, {path}, By(3));
  ASSERT_THAT(blocks, IsOk());
  EXPECT_THAT(Values(**blocks, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT((*blocks)->Load(1),
              StatusIs(Code::kDataLoss,
                       "read " + path + ": record 4 at offset " + std::to_string(4 * record) +
                           ": the checksum of its data is wrong"));
}

TEST_F(RecordBlocksTest, ARecordThatIsNoExampleOfTheDataIsNamed) {
  RecordBlocks::Options options = By(3);
  options.data.features[0].name = "z";
  const auto blocks = RecordBlocks::Open(files_, {Put("a", 0, 6)}, options);
  ASSERT_THAT(blocks, IsOk());
  EXPECT_THAT((*blocks)->Load(1),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr("/a: record 3 at offset"), HasSubstr("feature \"z\""))));
}

// Also where damaged records are passed over: the record is whole.
TEST_F(RecordBlocksTest, ANumberThatIsNotFiniteIsNamedWhenItsBlockIsRead) {
  const std::string path = dir_ + "/a";
  auto writer = RecordWriter::Open(files_, path);
  ASSERT_THAT(writer, IsOk());
  for (int64_t i = 0; i < 4; ++i) {
    ExampleBuilder builder;
    const float value = i == 3 ? NAN : static_cast<float>(i);
    builder.AddFloats("x", {&value, 1});
    builder.AddInts("y", {&i, 1});
    ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
  }
  ASSERT_THAT((*writer)->Close(), IsOk());
  const std::string record = "read " + path + ": record 3 at offset " +
                             std::to_string(3 * SizeOf(path) / 4) + ": feature ";
  for (const bool skip : {false, true}) {
    RecordBlocks::Options options = By(2, skip);
    const auto blocks = RecordBlocks::Open(files_, {path}, options);
    ASSERT_THAT(blocks, IsOk());
    EXPECT_THAT(Values(**blocks, 0), ElementsAre(0, 1));
    EXPECT_THAT((*blocks)->Load(1),
                StatusIs(Code::kInvalidArgument,
                         record + "\"x\": value 0: want a finite number, it is NaN"));
    options.data.label = "x";
    options.data.classes = 0;
    const auto targets = RecordBlocks::Open(files_, {path}, options);
    ASSERT_THAT(targets, IsOk());
    EXPECT_THAT((*targets)->Load(1),
                StatusIs(Code::kInvalidArgument,
                         record + "\"x\": want a finite number, it is NaN"));
  }
}

TEST_F(RecordBlocksTest, WrongLengthsAreFoundAtTheStart) {
  const std::string path = Put("a", 0, 6);
  const size_t record = SizeOf(path) / 6;
  Change(path, 2 * record, 1);
  EXPECT_THAT(RecordBlocks::Open(files_, {Put("b", 0, 1), path}, By(3)),
              StatusIs(Code::kDataLoss, AllOf(HasSubstr("/a: record 2 at offset"),
                                              HasSubstr("checksum of its length"))));
}

TEST_F(RecordBlocksTest, ATruncatedFileIsFoundAtTheStart) {
  const std::string path = Put("a", 0, 6);
  const std::string text = *files_.ReadAll(path);
  for (const size_t less : {size_t{1}, size_t{5}, text.size() / 6 - 1}) {
    ASSERT_THAT(files_.WriteAtomically(path, text.substr(0, text.size() - less)), IsOk());
    EXPECT_THAT(RecordBlocks::Open(files_, {path}, By(3)),
                StatusIs(Code::kDataLoss,
                         AllOf(HasSubstr("/a: record 5 at offset"), HasSubstr("truncated"))))
        << less;
  }
}

// Symptom: an empty shard among full ones ended the training.
TEST_F(RecordBlocksTest, FilesWithoutRecordsCountForNothing) {
  const std::string path = dir_ + "/empty", packed = dir_ + "/packed.gz";
  ASSERT_THAT(files_.WriteAtomically(path, ""), IsOk());
  ASSERT_THAT(files_.WriteAtomically(packed, GzipCompress("")), IsOk());
  for (const bool skip : {false, true}) {
    const auto blocks = RecordBlocks::Open(
        files_, {path, Put("a", 0, 2), path, packed, Put("b", 2, 2), path}, By(3, skip));
    ASSERT_THAT(blocks, IsOk());
    EXPECT_EQ((*blocks)->examples(), 4);
    const auto first = (*blocks)->Load(0);
    ASSERT_THAT(first, IsOk());
    EXPECT_EQ(first->examples(), 3);
    EXPECT_THAT((*blocks)->Load(1), IsOk());
    EXPECT_THAT(RecordBlocks::Open(files_, {path, packed}, By(3, skip)),
                StatusIs(Code::kInvalidArgument,
                         "read " + path +
                             ": it has no examples, nor has any of the 1 other files"));
  }
}

TEST_F(RecordBlocksTest, ACompressedFileSaysWhatUnpacksIt) {
  for (const bool skip : {false, true}) {
    EXPECT_THAT(RecordBlocks::Open(files_, {Put("a.gz", 0, 2)}, By(3, skip)),
                StatusIs(Code::kInvalidArgument,
                         AllOf(HasSubstr("/a.gz: it is compressed"),
                               HasSubstr("taas-trainer data convert"))));
  }
}

TEST_F(RecordBlocksTest, DamagedRecordsThatArePassedOverDoNotCount) {
  const std::string path = Put("a", 0, 6);
  const std::string text = *files_.ReadAll(path);
  const size_t record = text.size() / 6;
  ASSERT_THAT(files_.WriteAtomically(path, text.substr(0, text.size() - 3)), IsOk());
  Change(path, 0 * record + 20, 1);
  Change(path, 3 * record + 20, 1);
  const auto blocks = RecordBlocks::Open(files_, {path, Put("b", 6, 2)}, By(2, true));
  ASSERT_THAT(blocks, IsOk());
  EXPECT_EQ((*blocks)->skipped(), 3);
  ASSERT_EQ((*blocks)->examples(), 5);
  EXPECT_THAT(Values(**blocks, 0), ElementsAre(1, 2));
  EXPECT_THAT(Values(**blocks, 1), ElementsAre(4, 6));
  EXPECT_THAT(Values(**blocks, 2), ElementsAre(7));
}

TEST_F(RecordBlocksTest, AFileOfDamagedRecordsOnlyMayStandBetweenOthers) {
  const std::string bad = Put("bad", 9, 1);
  Change(bad, 20, 1);
  const auto blocks = RecordBlocks::Open(files_, {Put("a", 0, 1), bad, Put("b", 1, 2)},
                                         By(3, true));
  ASSERT_THAT(blocks, IsOk());
  EXPECT_THAT(Values(**blocks, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(RecordBlocks::Open(files_, {bad}, By(3, true)),
              StatusIs(Code::kInvalidArgument, HasSubstr("/bad: all records are damaged")));
}

TEST_F(RecordBlocksTest, AFileThatChangesDuringTheTrainingIsNamed) {
  const std::string path = Put("a", 0, 6);
  const auto blocks = RecordBlocks::Open(files_, {path}, By(3));
  ASSERT_THAT(blocks, IsOk());
  Put("a", 0, 5);
  EXPECT_THAT((*blocks)->Load(1),
              StatusIs(Code::kDataLoss, AllOf(HasSubstr("read " + path + ": "),
                                              HasSubstr("when the training began"))));
  ASSERT_THAT(files_.Remove(path), IsOk());
  EXPECT_THAT((*blocks)->Load(0), StatusIs(Code::kNotFound, HasSubstr(path)));
}

}  // namespace
}  // namespace taas
