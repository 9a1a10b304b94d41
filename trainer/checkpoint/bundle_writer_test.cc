#include "trainer/checkpoint/bundle_writer.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/write_pace.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string TestPath(const std::string& name) { return ::testing::TempDir() + "/" + name; }

std::string Hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<uint8_t>(c) >> 4];
    text += "0123456789abcdef"[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

// Derived by hand from the format: header 08 01 1a 02 08 01, then entries whose scalars have the
// empty shape 12 00 and whose zeros are left out, restart points, block trailers, footer.
TEST(BundleWriterTest, SmallBundleHasExactlyTheseBytes) {
  PosixFileSystem files;
  const std::string prefix = TestPath("small");
  const std::array<float, 2> b{1.5f, -2.0f};
  const TensorValue step = Int64Tensor("global_step", {}, std::array<int64_t, 1>{7});
  auto writer = BundleWriter::Open(files, prefix);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Add(FloatTensor("b", {2}, b)), IsOk());
  ASSERT_THAT((*writer)->Add(step.View()), IsOk());
  ASSERT_THAT((*writer)->Add(FloatTensor("w/Momentum", {0, 3}, {})), IsOk());
  ASSERT_THAT((*writer)->Finish(), IsOk());

  EXPECT_EQ(Hex(*files.ReadAll(prefix + ".data-00000-of-00001")),
            "0000c03f000000c00700000000000000");
  EXPECT_EQ(
      Hex(*files.ReadAll(prefix + ".index")),
      "00000608011a02080100010f6208011204120208022808353d33c8f4000b0d676c6f62616c5f7374"
      "6570080912002008280835bbd79f11000a11772f4d6f6d656e74756d080112061200120208032010"
      "35d8ea82a2000000000100000000e460f9a0000000000100000000c0f2a1b000010278005d000000"
      "00010000000089edb73162086f0e0000000000000000000000000000000000000000000000000000"
      "0000000000000000000057fb808b247547db");
}

TEST(BundleWriterTest, ShapeThatDoesNotFitTheBytesIsRefusedByName) {
  PosixFileSystem files;
  auto writer = BundleWriter::Open(files, TestPath("wrong"));
  ASSERT_THAT(writer, IsOk());
  const std::array<float, 3> values{};
  EXPECT_THAT((*writer)->Add(FloatTensor("w", {2, 2}, values)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("tensor w of float32[2,2]: got 12 bytes, want 16")));
  EXPECT_THAT((*writer)->Add(FloatTensor("w", {-1}, values)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("impossible shape")));
  EXPECT_THAT((*writer)->Add(FloatTensor("", {3}, values)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("without a name")));
  EXPECT_THAT((*writer)->Add(StringTensor("s", {2}, {"one"}).View()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got 1 strings")));
}

TEST(BundleWriterTest, NameUsedTwiceIsRefused) {
  PosixFileSystem files;
  auto writer = BundleWriter::Open(files, TestPath("twice"));
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Add(FloatTensor("w", {0}, {})), IsOk());
  EXPECT_THAT((*writer)->Add(FloatTensor("w", {0}, {})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("w is there twice")));
}

TEST(BundleWriterTest, TensorsAreSpreadOverShardsInOrder) {
  const std::array<float, 10> values{};
  const auto tensor = [&](int64_t count) {
    return FloatTensor("w", {count}, std::span(values).first(static_cast<size_t>(count)));
  };
  const std::vector<TensorView> tensors = {tensor(4), tensor(4), tensor(10), tensor(1), tensor(0)};
  EXPECT_THAT(PlanShards(tensors, 32), ElementsAre(0, 0, 1, 2, 2));
  EXPECT_THAT(PlanShards(tensors, 1000), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(PlanShards(tensors, 1), ElementsAre(0, 1, 2, 3, 3)) << "none is cut";
  EXPECT_THAT(PlanShards({}, 1), ElementsAre());
  std::vector<TensorView> many(static_cast<size_t>(2 * kBundleShardsMax), tensor(1));
  EXPECT_EQ(PlanShards(many, 1).back(), kBundleShardsMax - 1);
}

TEST(BundleWriterTest, DirectoryThatDoesNotExistIsNamed) {
  PosixFileSystem files;
  EXPECT_THAT(BundleWriter::Open(files, TestPath("absent/model")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("absent/model.data-00000-of-00001")));
}

TEST(BundleWriterTest, LargeTensorsAreWrittenInPieces) {
  PosixFileSystem files;
  int pieces = 0;
  const auto lose = [&](WritableFile&) -> absl::Status {
    return ++pieces < 2 ? absl::OkStatus() : absl::AbortedError("the owner has changed");
  };
  auto writer = BundleWriter::Open(files, TestPath("pieces"), {.after_piece = lose});
  ASSERT_THAT(writer, IsOk());
  const std::vector<float> values(5 * kPieceBytes / sizeof(float) / 2, 1.0f);
  const TensorView tensor = FloatTensor("w", {std::ssize(values)}, values);
  EXPECT_THAT((*writer)->Add(tensor),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("the owner has changed")));
  EXPECT_EQ(pieces, 2);
  // The third is no whole one, so that nothing is called after it.
  const auto go_on = [&](WritableFile&) -> absl::Status {
    ++pieces;
    return absl::OkStatus();
  };
  writer = BundleWriter::Open(files, TestPath("pieces"), {.after_piece = go_on});
  pieces = 0;
  ASSERT_THAT((*writer)->Add(tensor), IsOk());
  ASSERT_THAT((*writer)->Finish(), IsOk());
  EXPECT_EQ(pieces, 2);
  const auto bytes = files.ReadAll(BundleDataPath(TestPath("pieces")));
  EXPECT_EQ(bytes->size(), values.size() * sizeof(float));
}

// Counts how often files were brought to the disk.
class SyncedFiles : public PosixFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path) override {
    ASSIGN_OR_RETURN(auto file, PosixFileSystem::OpenWrite(path));
    return std::unique_ptr<WritableFile>(new Counted(std::move(file), &syncs));
  }
  int syncs = 0;

 private:
  class Counted : public WritableFile {
   public:
    Counted(std::unique_ptr<WritableFile> file, int* syncs)
        : file_(std::move(file)), syncs_(syncs) {}
    absl::Status Append(std::string_view data) override { return file_->Append(data); }
    absl::Status Sync() override {
      ++*syncs_;
      return file_->Sync();
    }
    absl::Status Close() override { return file_->Close(); }

   private:
    const std::unique_ptr<WritableFile> file_;
    int* const syncs_;
  };
};

TEST(BundleWriterTest, ManySmallTensorsAreWrittenInPiecesToo) {
  SyncedFiles files;
  bool sync = true;
  const auto after_piece = [&](WritableFile& file) {
    return sync ? file.Sync() : absl::OkStatus();
  };
  auto writer = BundleWriter::Open(files, TestPath("many"), {.after_piece = after_piece});
  ASSERT_THAT(writer, IsOk());
  const std::vector<float> values(kPieceBytes / sizeof(float) / 3, 1.0f);
  for (int i = 0; i < 7; ++i) {
    const std::string name = "w" + std::to_string(i);
    ASSERT_THAT((*writer)->Add(FloatTensor(name, {std::ssize(values)}, values)), IsOk());
  }
  EXPECT_EQ(files.syncs, 2) << "of 7 thirds";
  sync = false;
  for (int i = 7; i < 14; ++i) {
    const std::string name = "w" + std::to_string(i);
    ASSERT_THAT((*writer)->Add(FloatTensor(name, {std::ssize(values)}, values)), IsOk());
  }
  EXPECT_EQ(files.syncs, 2);
}

}  // namespace
}  // namespace taas
