#include "trainer/data/idx.h"

#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/gzip.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class IdxTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    EXPECT_THAT(files_.WriteAtomically(path, text), IsOk());
    return path;
  }
  std::string WriteGzip(const std::string& name, const std::string& text) {
    return Write(name, GzipCompress(text));
  }
  std::string Labels(const std::string& name, const std::string& labels) {
    const std::array<int64_t, 1> shape{static_cast<int64_t>(labels.size())};
    return WriteGzip(name, EncodeIdx(shape, labels));
  }
  // Images of 1 × 2 pixels.
  std::string Images(const std::string& name, const std::string& pixels) {
    const std::array<int64_t, 3> shape{static_cast<int64_t>(pixels.size() / 2), 1, 2};
    return WriteGzip(name, EncodeIdx(shape, pixels));
  }
  PosixFileSystem files_;
};

std::string Bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

TEST_F(IdxTest, ImagesOfBytesComeBackPlainOrCompressed) {
  const std::array<int64_t, 3> shape{2, 1, 3};
  const std::string text = EncodeIdx(shape, "abcdef");
  EXPECT_EQ(text.substr(0, 8), Bytes({0, 0, 8, 3, 0, 0, 0, 2}));
  for (const std::string& path : {Write("plain-idx3-ubyte", text), WriteGzip("images.gz", text)}) {
    const auto array = ReadIdx(files_, path);
    ASSERT_THAT(array, IsOk());
    EXPECT_THAT(array->shape, ElementsAre(2, 1, 3));
    EXPECT_EQ(std::string(array->bytes.begin(), array->bytes.end()), "abcdef");
  }
}

TEST_F(IdxTest, NumbersOfEveryTypeAreReadBigEndian) {
  struct Case {
    int type;
    std::string bytes;
    std::vector<float> want;
  };
  for (const Case& c : {
           Case{0x08, Bytes({1, 255}), {1, 255}},
           Case{0x09, Bytes({1, 255}), {1, -1}},
           Case{0x0b, Bytes({1, 2, 255, 254}), {258, -2}},
           Case{0x0c, Bytes({0, 1, 0, 0, 255, 255, 255, 255}), {65536, -1}},
           Case{0x0d, Bytes({0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0}), {1.5f, -2}},
           Case{0x0e, Bytes({0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0}), {1.5f, -2}},
       }) {
    const auto array =
        ReadIdx(files_, WriteGzip("typed.gz", Bytes({0, 0, c.type, 1, 0, 0, 0, 2}) + c.bytes));
    ASSERT_THAT(array, IsOk());
    EXPECT_EQ(array->Numbers<float>(), c.want) << c.type;
  }
}

TEST_F(IdxTest, FileThatIsMissingTruncatedOrOfAnotherKindIsNamedWithTheReason) {
  const std::array<int64_t, 1> shape{4};
  const std::string good = EncodeIdx(shape, "abcd");
  struct Case {
    const char* name;
    std::string path;
    Code code;
    const char* text;
  };
  const std::string cut = GzipCompress(good).substr(0, 15);
  for (const Case& c : {
           Case{"missing", "/nowhere/images.gz", Code::kNotFound, "No such file"},
           Case{"not gzip", Write("a.gz", good), Code::kDataLoss, "not a gzip file"},
           Case{"cut gzip", Write("b.gz", cut), Code::kDataLoss, "truncated"},
           Case{"cut data", WriteGzip("c.gz", good.substr(0, 10)), Code::kDataLoss,
                "truncated: it has 2 of the 4 bytes"},
           Case{"cut header", WriteGzip("d.gz", good.substr(0, 6)), Code::kDataLoss,
                "header is truncated"},
           Case{"no header", WriteGzip("e.gz", "ab"), Code::kDataLoss, "only 2 bytes"},
           Case{"wrong magic", WriteGzip("f.gz", "PK\x03\x04 a zip file"), Code::kDataLoss,
                "wrong magic number 0x504b0304"},
           Case{"type unknown", WriteGzip("g.gz", Bytes({0, 0, 7, 1, 0, 0, 0, 0})),
                Code::kDataLoss, "wrong magic number 0x00000701"},
           Case{"too long", WriteGzip("h.gz", good + "e"), Code::kDataLoss, "more bytes"},
           Case{"huge", WriteGzip("i.gz", Bytes({0, 0, 8, 2, 127, 0, 0, 0, 127, 0, 0, 0})),
                Code::kResourceExhausted, "16 GiB"},
           Case{"lies", WriteGzip("j.gz", Bytes({0, 0, 8, 1, 63, 0, 0, 0})), Code::kDataLoss,
                "cannot hold"},
       }) {
    EXPECT_THAT(ReadIdx(files_, c.path),
                StatusIs(c.code, AllOf(HasSubstr(c.path), HasSubstr(c.text))))
        << c.name;
  }
}

TEST_F(IdxTest, ImagesAndLabelsBecomeADataset) {
  const auto set = ReadLabelledIdx(files_, Images("x.gz", Bytes({0, 255, 51, 0})),
                                   Labels("y.gz", Bytes({1, 0})), {});
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->examples(), 2);
  EXPECT_EQ(set->features(), 2);
  EXPECT_EQ(set->classes(), 2);
  EXPECT_EQ(set->image(), (ImageShape{1, 2, 1}));
  std::array<float, 2> features{};
  const std::array<int64_t, 1> first{0};
  set->GatherFeatures(first, features.data());
  EXPECT_THAT(features, ElementsAre(0.0f, FloatEq(1)));
}

TEST_F(IdxTest, FourthDimensionIsThatOfTheChannels) {
  const std::array<int64_t, 4> colour{2, 1, 1, 3};
  const auto set = ReadLabelledIdx(files_, WriteGzip("x.gz", EncodeIdx(colour, "abcdef")),
                                   Labels("y.gz", Bytes({1, 0})), {});
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->image(), (ImageShape{1, 1, 3}));
  const std::array<int64_t, 2> rows{2, 3};
  const auto flat = ReadLabelledIdx(files_, WriteGzip("x.gz", EncodeIdx(rows, "abcdef")),
                                    Labels("y.gz", Bytes({1, 0})), {});
  ASSERT_THAT(flat, IsOk());
  EXPECT_EQ(flat->image(), ImageShape());
}

TEST_F(IdxTest, FloatLabelsAreTargetsOfARegression) {
  const std::string targets =
      WriteGzip("t.gz", Bytes({0, 0, 0x0d, 1, 0, 0, 0, 2, 0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0}));
  const auto set = ReadLabelledIdx(files_, Images("x.gz", Bytes({0, 255, 51, 0})), targets, {});
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->classes(), 0);
  EXPECT_EQ(set->target_width(), 1);
  // Where they are looked up, bytes are ids as they are, not 1/255 of them.
  const auto looked_up =
      ReadLabelledIdx(files_, Images("x.gz", Bytes({0, 255, 51, 0})), targets, {.ids = true});
  ASSERT_THAT(looked_up, IsOk());
  ASSERT_EQ(looked_up->examples() * looked_up->ids(), 4);
  std::vector<int64_t> ids(4);
  std::vector<int64_t> all(static_cast<size_t>(looked_up->examples()));
  std::iota(all.begin(), all.end(), 0);
  looked_up->GatherIds(all, ids.data());
  EXPECT_THAT(ids, testing::ElementsAre(0, 255, 51, 0));
}

// Trained on, each would make a model of NaN.
TEST_F(IdxTest, NumbersThatAreNotFiniteNameFileExampleAndValue) {
  const std::string labels = Labels("y.gz", Bytes({1, 0}));
  const std::string nan = Bytes({0x7f, 0xc0, 0, 0}), one = Bytes({0x3f, 0x80, 0, 0});
  const std::string head = Bytes({0, 0, 0x0d, 2, 0, 0, 0, 2, 0, 0, 0, 2});
  const std::string images = Write("nan", head + one + one + one + nan);
  const std::string targets =
      Write("t", Bytes({0, 0, 0x0d, 1, 0, 0, 0, 2}) + Bytes({0xff, 0x80, 0, 0}) + one);
  const std::string at = "read " + images + ": example 1, value 1: want a finite number, it is NaN";
  EXPECT_THAT(ReadLabelledIdx(files_, images, labels, {}), StatusIs(Code::kInvalidArgument, at));
  EXPECT_THAT(ReadLabelledIdx(files_, images, targets, {}), StatusIs(Code::kInvalidArgument, at));
  EXPECT_THAT(ReadLabelledIdx(files_, Images("x.gz", "abcd"), targets, {}),
              StatusIs(Code::kInvalidArgument, "read " + targets + ": example 0, value 0: want a "
                                               "finite number, it is infinite"));
  // 1e300, which 32 bits do not hold.
  const std::string wide =
      Write("wide", Bytes({0, 0, 0x0e, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0x7e, 0x37, 0xe4, 0x3c, 0x88, 0,
                           0x75, 0x9c}));
  EXPECT_THAT(ReadLabelledIdx(files_, wide, Labels("y.gz", Bytes({0})), {}),
              StatusIs(Code::kInvalidArgument, "read " + wide + ": example 0, value 0: want a "
                                               "finite number, it is infinite"));
}

// Files that hold nothing, in every way that they can.
TEST_F(IdxTest, EmptyFilesSayWhatIsMissing) {
  const std::string none = Labels("y.gz", "");
  const std::string floats = Write("floats", Bytes({0, 0, 0x0d, 1, 0, 0, 0, 0}));
  const std::string text = EncodeIdx(std::array<int64_t, 3>{0, 28, 28}, "");
  for (const std::string& images : {Write("x", text), WriteGzip("x.gz", text)}) {
    for (const std::string& labels : {none, floats}) {
      EXPECT_THAT(ReadLabelledIdx(files_, images, labels, {}),
                  StatusIs(Code::kInvalidArgument, "read " + images + ": it has no images"));
    }
  }
  const std::string flat = Write("flat", EncodeIdx(std::array<int64_t, 3>{2, 0, 28}, ""));
  EXPECT_THAT(ReadLabelledIdx(files_, flat, Labels("y.gz", Bytes({1, 0})), {}),
              StatusIs(Code::kInvalidArgument, "read " + flat + ": images are empty"));
  const struct {
    std::string path;
    const char* text;
  } cases[] = {{Write("nothing", ""), ": not an IDX file: it has only 0 bytes; it is empty"},
               {WriteGzip("packed.gz", ""),
                ": not an IDX file: it has only 0 bytes; what was packed in it is empty"},
               {Write("nothing.gz", ""), ": not an IDX file: it has only 0 bytes; it is empty"}};
  for (const auto& [path, text] : cases) {
    EXPECT_THAT(ReadLabelledIdx(files_, path, none, {}),
                StatusIs(Code::kDataLoss, "read " + path + text));
    EXPECT_THAT(ReadLabelledIdx(files_, Images("x.gz", "ab"), path, {}),
                StatusIs(Code::kDataLoss, "read " + path + text));
  }
}

// Symptom: a sparse file of 16 GiB ended the program, which had less memory.
TEST_F(IdxTest, MemoryThatIsNotThereIsNoCrash) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "needs: no sanitizer";  // It takes the address space.
#endif
  const std::string path = Write("sparse", Bytes({0, 0, 8, 2, 0, 0, 64, 0, 0, 16, 0, 0}));
  std::filesystem::resize_file(path, 12 + (uintmax_t{16} << 30));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit little{rlim_t{4} << 30, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
  const auto array = ReadIdx(files_, path);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(array, StatusIs(Code::kResourceExhausted,
                              HasSubstr(path + ": there is no memory for the 17179869184 bytes")));
}

TEST_F(IdxTest, DifferentCountsNameBothFiles) {
  const std::string images = Images("x.gz", "abcdef");
  const std::string labels = Labels("y.gz", Bytes({1, 0}));
  EXPECT_THAT(ReadLabelledIdx(files_, images, labels, {}),
              StatusIs(Code::kInvalidArgument, AllOf(HasSubstr(images + ": it has 3 images"),
                                                     HasSubstr(labels + " has 2 labels"))));
}

TEST_F(IdxTest, LabelOutOfRangeNamesFileAndExample) {
  const std::string images = Images("x.gz", "abcdef");
  const std::string labels = Labels("y.gz", Bytes({1, 0, 2}));
  EXPECT_THAT(ReadLabelledIdx(files_, images, labels, {.classes = 2}),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr(labels), HasSubstr("label 2 of example 2"))));
  const std::string wild = Labels("wild.gz", Bytes({1, 0, 200}));
  EXPECT_THAT(ReadLabelledIdx(files_, images, wild, {}),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr(wild), HasSubstr("label 200 of example 2"))));
  const std::string negative =
      WriteGzip("n.gz", Bytes({0, 0, 9, 1, 0, 0, 0, 3, 0, 255, 1}));
  EXPECT_THAT(ReadLabelledIdx(files_, images, negative, {}),
              StatusIs(Code::kInvalidArgument, HasSubstr("label -1 of example 1")));
}

// The largest became the least, and the message named a label that no file had.
TEST_F(IdxTest, LabelsOf32BitsAreNotRounded) {
  const std::string head = Bytes({0, 0, 0x0c, 1, 0, 0, 0, 2, 0, 0, 0, 0});
  const struct {
    std::string bytes;
    const char* label;
  } cases[] = {{Bytes({0x7f, 255, 255, 255}), "2147483647"}, {Bytes({1, 0, 0, 1}), "16777217"}};
  for (const auto& [bytes, label] : cases) {
    const std::string labels = WriteGzip("large.gz", head + bytes);
    EXPECT_THAT(ReadLabelledIdx(files_, Images("x.gz", "abcd"), labels, {.classes = 2}),
                StatusIs(Code::kInvalidArgument, "read " + labels + ": label " + label +
                                                     " of example 1 is out of range, want 0 to 1"));
  }
}

TEST_F(IdxTest, LabelsOfTwoDimensionsAreRefused) {
  const std::array<int64_t, 2> shape{3, 1};
  const std::string labels = WriteGzip("two.gz", EncodeIdx(shape, "abc"));
  EXPECT_THAT(ReadLabelledIdx(files_, Images("x.gz", "abcdef"), labels, {}),
              StatusIs(Code::kInvalidArgument, HasSubstr("2 dimensions")));
}

}  // namespace
}  // namespace taas
