#include "trainer/checkpoint/bundle_reader.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/crc32c.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/checkpoint/sorted_table.h"
#include "trainer/formats/tensor_bundle.pb.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BundleReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
    prefix_ = dir_ + "/model.ckpt-10";
    const TensorValue step = Int64Tensor("global_step", {}, std::array<int64_t, 1>{10});
    const std::array<uint8_t, 3> set{1, 0, 255};
    const TensorValue bits = Uint8Tensor("taas/cursor/bits", {3}, set);
    const TensorValue texts = StringTensor("taas/names", {3}, {"zero", "", std::string(300, 'x')});
    auto writer = BundleWriter::Open(files_, prefix_);
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT((*writer)->Add(FloatTensor("w", {2, 3}, weights_)), IsOk());
    for (const TensorValue* value : {&step, &bits, &texts}) {
      ASSERT_THAT((*writer)->Add(value->View()), IsOk());
    }
    ASSERT_THAT((*writer)->Finish(), IsOk());
  }

  // Reverses the bits of one byte of the file.
  void Damage(const std::string& path, size_t byte) {
    std::string text = *files_.ReadAll(path);
    ASSERT_LT(byte, text.size());
    text[byte] = static_cast<char>(~text[byte]);
    ASSERT_THAT(files_.WriteAtomically(path, text), IsOk());
  }

  PosixFileSystem files_;
  std::string dir_;
  std::string prefix_;
  const std::array<float, 6> weights_{1, 2, 3, 4, 5, -6.5f};
};

TEST_F(BundleReaderTest, EveryTypeComesBack) {
  auto reader = BundleReader::Open(files_, prefix_);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->VerifyAll(), IsOk());
  std::array<float, 6> weights{};
  const std::array<int64_t, 2> shape{2, 3};
  ASSERT_THAT((*reader)->ReadFloats("w", shape, weights), IsOk());
  EXPECT_EQ(weights, weights_);
  EXPECT_EQ(*(*reader)->ReadInt64("global_step"), 10);
  const auto bits = (*reader)->Read("taas/cursor/bits");
  ASSERT_THAT(bits, IsOk());
  EXPECT_EQ(bits->bytes, std::string("\x01\x00\xff", 3));
  const auto texts = (*reader)->Read("taas/names");
  ASSERT_THAT(texts, IsOk());
  EXPECT_THAT(texts->strings, ElementsAre("zero", "", std::string(300, 'x')));
}

TEST_F(BundleReaderTest, ShapeOrTypeOtherThanAskedForIsAnErrorThatNamesBoth) {
  auto reader = BundleReader::Open(files_, prefix_);
  ASSERT_THAT(reader, IsOk());
  std::array<float, 6> weights{};
  const std::array<int64_t, 2> shape{3, 2};
  EXPECT_THAT((*reader)->ReadFloats("w", shape, weights),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("variable w: it is float32[2,3], want float32[3,2]")));
  EXPECT_THAT((*reader)->ReadInt64("w"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT((*reader)->Read("v"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("variable v")));
}

TEST_F(BundleReaderTest, EveryDamagedByteOfTheDataFileIsFound) {
  const std::string path = prefix_ + ".data-00000-of-00001";
  const size_t size = files_.ReadAll(path)->size();
  for (size_t byte = 0; byte < size; ++byte) {
    Damage(path, byte);
    auto reader = BundleReader::Open(files_, prefix_);
    ASSERT_THAT(reader, IsOk());
    EXPECT_THAT((*reader)->VerifyAll(), StatusIs(absl::StatusCode::kDataLoss,
                                                 HasSubstr(prefix_)))
        << byte;
    Damage(path, byte);
  }
}

TEST_F(BundleReaderTest, DamagedVariableIsNamedWhenItIsRead) {
  Damage(prefix_ + ".data-00000-of-00001", 5);
  auto reader = BundleReader::Open(files_, prefix_);
  ASSERT_THAT(reader, IsOk());
  std::array<float, 6> weights{};
  const std::array<int64_t, 2> shape{2, 3};
  EXPECT_THAT((*reader)->ReadFloats("w", shape, weights),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("variable w"), HasSubstr("checksum"))));
  EXPECT_THAT((*reader)->Read("w"), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(BundleReaderTest, DataFileCutShortOrMissingIsFoundAtOpen) {
  const std::string path = prefix_ + ".data-00000-of-00001";
  const std::string data = *files_.ReadAll(path);
  ASSERT_THAT(files_.WriteAtomically(path, data.substr(0, data.size() - 1)), IsOk());
  EXPECT_THAT(BundleReader::Open(files_, prefix_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(path), HasSubstr("cut short"))));
  ASSERT_THAT(files_.Remove(path), IsOk());
  EXPECT_THAT(BundleReader::Open(files_, prefix_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(path)));
}

TEST_F(BundleReaderTest, IndexThatIsNoIndexIsAnError) {
  const std::string path = prefix_ + ".index";
  ASSERT_THAT(files_.WriteAtomically(path, "this is not a table"), IsOk());
  EXPECT_THAT(BundleReader::Open(files_, prefix_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
  ASSERT_THAT(files_.WriteAtomically(path, EncodeSortedTable({{"w", "x"}})), IsOk());
  EXPECT_THAT(BundleReader::Open(files_, prefix_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no header")));
}

// Symptom: the index that attackers made of 114 bytes ended whoever opened the checkpoint.
TEST_F(BundleReaderTest, IndexWhoseBlockWrapsAroundIsDamaged) {
  const std::string index(
      "\0\0\x06\x08\x01\x1a\x02\x08\x01\0\0\0\0\x01\0\0\0\0\x62"
      "\x94\x57\xf9\0\0\0\0\x01\0\0\0\0\xc0\xf2\xa1\xb0\0\x04\x0b"
      "\x7a\x7a\x7a\x7a\0\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0\0"
      "\x01\0\0\0\0\x9e\x91\x0b\x07\x16\x08\x23\x1a\0\0\0\0\0\0"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
      "\0\0\0\0\0\0\0\0\0\0\0\x57\xfb\x80\x8b\x24\x75\x47\xdb",
      114);
  ASSERT_THAT(files_.WriteAtomically(prefix_ + ".index", index), IsOk());
  EXPECT_THAT(BundleReader::Open(files_, prefix_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(prefix_), HasSubstr("18446744073709551614 bytes"))));
}

// Symptom: a sparse index longer than the memory ended whoever opened the checkpoint.
TEST_F(BundleReaderTest, IndexThatIsTooLongIsDamagedAndNotRead) {
  std::filesystem::resize_file(prefix_ + ".index", uintmax_t{1} << 40);
  EXPECT_THAT(BundleReader::Open(files_, prefix_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("longer than 256 MiB")));
}

// A data file may be long and hold nothing.
TEST_F(BundleReaderTest, NoMemoryIsTakenForWhatAShapeDoesNotHave) {
  std::filesystem::resize_file(prefix_ + ".data-00000-of-00001", uintmax_t{1} << 42);
  formats::BundleHeader header;
  header.set_num_shards(1);
  const auto open = [&](int type, int64_t count) {
    formats::BundleEntry entry;
    entry.set_dtype(type);
    entry.mutable_shape()->add_dim()->set_size(count);
    entry.set_size(int64_t{1} << 41);
    EXPECT_THAT(files_.WriteAtomically(prefix_ + ".index",
                                       EncodeSortedTable({{"", header.SerializeAsString()},
                                                          {"w", entry.SerializeAsString()}})),
                IsOk());
    return BundleReader::Open(files_, prefix_);
  };
  const struct {
    int type;
    int64_t count;
    absl::StatusCode code;
  } cases[] = {{1, 6, absl::StatusCode::kDataLoss},
               {1, INT64_MAX / 2, absl::StatusCode::kDataLoss},
               {7, 6, absl::StatusCode::kResourceExhausted},
               {23, 6, absl::StatusCode::kUnimplemented}};
  for (const auto& [type, count, code] : cases) {
    const auto reader = open(type, count);
    ASSERT_THAT(reader, IsOk());
    EXPECT_THAT((*reader)->Read("w"), StatusIs(code)) << type;
  }
}

TEST_F(BundleReaderTest, EntryThatPointsOutsideItsFileIsAnError) {
  struct Case {
    const char* name;
    int shard;
    int64_t offset;
    int64_t size;
  };
  for (const Case& c : {Case{"shard", 1, 0, 4}, Case{"offset", 0, -1, 4}, Case{"size", 0, 0, -4},
                        Case{"beyond", 0, 1 << 20, 4}, Case{"sum", 0, INT64_MAX, INT64_MAX}}) {
    formats::BundleHeader header;
    header.set_num_shards(1);
    formats::BundleEntry entry;
    entry.set_dtype(1);
    entry.set_shard_id(c.shard);
    entry.set_offset(c.offset);
    entry.set_size(c.size);
    ASSERT_THAT(files_.WriteAtomically(prefix_ + ".index",
                                       EncodeSortedTable({{"", header.SerializeAsString()},
                                                          {"w", entry.SerializeAsString()}})),
                IsOk());
    EXPECT_THAT(BundleReader::Open(files_, prefix_), StatusIs(absl::StatusCode::kDataLoss))
        << c.name;
  }
}

TEST_F(BundleReaderTest, SeveralShardsAreReadFromTheirFiles) {
  formats::BundleHeader header;
  header.set_num_shards(2);
  std::map<std::string, std::string> rows{{"", header.SerializeAsString()}};
  for (int shard = 0; shard < 2; ++shard) {
    formats::BundleEntry entry;
    entry.set_dtype(static_cast<int>(ElementType::kUint8));
    entry.mutable_shape()->add_dim()->set_size(9);
    entry.set_shard_id(shard);
    entry.set_size(9);
    entry.set_masked_crc32c(MaskedCrc32c("123456789"));
    rows["part" + std::to_string(shard)] = entry.SerializeAsString();
    ASSERT_THAT(files_.WriteAtomically(BundleDataPath(dir_ + "/two", shard, 2), "123456789"),
                IsOk());
  }
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/two.index", EncodeSortedTable(rows)), IsOk());
  auto reader = BundleReader::Open(files_, dir_ + "/two");
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->Read("part0")->bytes, "123456789");
  EXPECT_EQ((*reader)->Read("part1")->bytes, "123456789");
}

TEST_F(BundleReaderTest, CheckpointOfTheSameModelPassesAndBookkeepingDoesNotCount) {
  auto reader = BundleReader::Open(files_, prefix_);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->CheckVariables({{"w", ElementType::kFloat32, {2, 3}}}), IsOk());
}

TEST_F(BundleReaderTest, CheckpointOfAnotherModelNamesTheDifferences) {
  auto reader = BundleReader::Open(files_, prefix_);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->CheckVariables({{"w", ElementType::kFloat32, {2, 4}}}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(prefix_ + " is a checkpoint of another model"),
                             HasSubstr("w is float32[2,3] there and float32[2,4] here"))));
  EXPECT_THAT((*reader)->CheckVariables({{"v", ElementType::kFloat32, {1}}}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("v is missing there"),
                             HasSubstr("w is not part of this model"))));
}

TEST_F(BundleReaderTest, ShardsAndACompressedIndexAreRead) {
  auto writer = BundleWriter::Open(files_, prefix_, {.shards = 3, .snappy_index = true});
  ASSERT_THAT(writer, IsOk());
  const std::array<float, 6> other{6, 5, 4, 3, 2, 1};
  ASSERT_THAT((*writer)->Add(FloatTensor("a", {6}, weights_), 2), IsOk());
  ASSERT_THAT((*writer)->Add(FloatTensor("b", {6}, other), 0), IsOk());
  ASSERT_THAT((*writer)->Add(FloatTensor("c", {6}, other), 2), IsOk());
  ASSERT_THAT((*writer)->Finish(), IsOk());
  auto reader = BundleReader::Open(files_, prefix_);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->VerifyAll(), IsOk());
  EXPECT_EQ((*reader)->entries().at("c").shard, 2);
  EXPECT_EQ((*reader)->entries().at("c").offset, 24);
  std::array<float, 6> got{};
  ASSERT_THAT((*reader)->ReadFloats("c", std::array<int64_t, 1>{6}, got), IsOk());
  EXPECT_EQ(got, other);
  ASSERT_THAT(files_.Remove(BundleDataPath(prefix_, 1, 3)), IsOk());
  EXPECT_THAT(BundleReader::Open(files_, prefix_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("data-00001-of-00003")));
}

TEST_F(BundleReaderTest, SeveralCheckpointsBecomeOne) {
  const std::string part = dir_ + "/part", target = dir_ + "/model.ckpt-20";
  const std::array<float, 2> more{8, 9};
  auto writer = BundleWriter::Open(files_, part, {.shards = 2});
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Add(FloatTensor("v", {2}, more), 1), IsOk());
  ASSERT_THAT((*writer)->Finish(), IsOk());
  EXPECT_THAT(MergeBundles(files_, {prefix_, prefix_}, target).message(),
              HasSubstr("variable global_step is in two of them"));
  ASSERT_THAT(MergeBundles(files_, {prefix_, part}, target), IsOk());
  EXPECT_THAT(*files_.List(dir_),
              ElementsAre("model.ckpt-20.data-00000-of-00003", "model.ckpt-20.data-00001-of-00003",
                          "model.ckpt-20.data-00002-of-00003", "model.ckpt-20.index"));
  auto reader = BundleReader::Open(files_, target);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->VerifyAll(), IsOk());
  std::array<float, 2> got{};
  ASSERT_THAT((*reader)->ReadFloats("v", std::array<int64_t, 1>{2}, got), IsOk());
  EXPECT_EQ(got, more);
  EXPECT_THAT(*(*reader)->ReadInt64("global_step"), 10);
}

}  // namespace
}  // namespace taas
