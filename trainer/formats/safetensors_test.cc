#include "trainer/formats/safetensors.h"

#include <array>
#include <fstream>
#include <random>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SafetensorsTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& header, const std::string& data) {
    const uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
    EXPECT_THAT(files_.WriteAtomically(path_, bytes + header + data), IsOk());
    return path_;
  }
  absl::Status Open(const std::string& header, const std::string& data) {
    return SafetensorsReader::Open(files_, Write(header, data)).status();
  }

  PosixFileSystem files_;
  const std::string path_ = ::testing::TempDir() + "/x.safetensors";
};

// The bytes of the format, written by hand.
TEST_F(SafetensorsTest, AFileIsItsHeaderAndTheTensorsBytes) {
  const std::array<float, 2> w = {1, 2};
  const std::array<int64_t, 1> step = {7};
  const TensorValue number = Int64Tensor("step", {}, step);
  const std::vector<TensorView> tensors = {FloatTensor("w", {2, 1}, w), number.View()};
  ASSERT_THAT(WriteSafetensors(files_, path_, tensors, {.metadata = {{"made by", "a test"}}}),
              IsOk());
  const std::string header =
      R"({"__metadata__":{"made by":"a test"},)"
      R"("step":{"data_offsets":[0,8],"dtype":"I64","shape":[]},)"
      R"("w":{"data_offsets":[8,16],"dtype":"F32","shape":[2,1]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  const std::string written = *files_.ReadAll(path_);
  EXPECT_EQ(written, *files_.ReadAll(Write(header + padding,
                                           std::string("\7\0\0\0\0\0\0\0", 8) +
                                               std::string("\0\0\x80\x3f\0\0\0\x40", 8))));
  auto reader = SafetensorsReader::Open(files_, path_);
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->metadata().at("made by"), "a test");
  EXPECT_THAT(*(*reader)->ReadInt64s("step"), ElementsAre(7));
  std::vector<float> got(2);
  ASSERT_THAT((*reader)->ReadFloats("w", std::array<int64_t, 2>{2, 1}, got), IsOk());
  EXPECT_THAT(got, ElementsAre(1, 2));
}

// Symptom: a header of 89 MB with 1.5 million tensors took 1.5 GB and seven seconds.
TEST_F(SafetensorsTest, MoreTensorsThanAnyModelHasAreRefused) {
  const auto header = [](int tensors, int texts) {
    std::string text = "{";
    for (int i = 0; i < tensors; ++i) {
      text += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    }
    text += R"(,"__metadata__":{)";
    for (int i = 0; i < texts; ++i) {
      text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"\"";
    }
    return text + "}}";
  };
  EXPECT_THAT(Open(header(1'000, 1'000), ""), IsOk());
  EXPECT_THAT(Open(header(100'001, 1), "").message(), HasSubstr("comes after 100000 others"));
  EXPECT_THAT(Open(header(1, 100'001), "").message(), HasSubstr("has more than 100000 texts"));
}

TEST_F(SafetensorsTest, AFileThatIsAnotherIsNamed) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\n";
  ASSERT_THAT(files_.WriteAtomically(path_, pointer), IsOk());
  EXPECT_THAT(SafetensorsReader::Open(files_, path_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("; it is a pointer of Git LFS")));
}

TEST_F(SafetensorsTest, EveryElementTypeComesBackAsFloats) {
  const std::string data("\0\0\0\0\0\0\xf8\x3f"              // F64 1.5
                         "\xff\xff\xff\xff\xff\xff\xff\xff"  // I64 -1
                         "\0\0\0\x40"                        // F32 2
                         "\xfe\xff\xff\xff"                  // I32 -2
                         "\0\x3c"                            // F16 1
                         "\x80\x3f"                          // BF16 1
                         "\x03\0"                            // I16 3
                         "\xfc"                              // I8 -4
                         "\xfc"                              // U8 252
                         "\x01",                             // BOOL true
                         33);
  std::string header = "{";
  uint64_t at = 0;
  const std::vector<std::tuple<std::string, uint64_t, float>> types = {
      {"F64", 8, 1.5f}, {"I64", 8, -1}, {"F32", 4, 2}, {"I32", 4, -2}, {"F16", 2, 1},
      {"BF16", 2, 1},   {"I16", 2, 3},  {"I8", 1, -4}, {"U8", 1, 252}, {"BOOL", 1, 1}};
  for (const auto& [name, bytes, value] : types) {
    header += (at == 0 ? "\"" : ",\"") + name + R"(":{"dtype":")" + name +
              R"(","shape":[1],"data_offsets":[)" + std::to_string(at) + "," +
              std::to_string(at + bytes) + "]}";
    at += bytes;
  }
  auto reader = SafetensorsReader::Open(files_, Write(header + "}", data));
  ASSERT_THAT(reader, IsOk());
  for (const auto& [name, bytes, value] : types) {
    std::vector<float> got(1);
    ASSERT_THAT((*reader)->ReadFloats(name, std::array<int64_t, 1>{1}, got), IsOk()) << name;
    EXPECT_EQ(got[0], value) << name;
  }
  EXPECT_THAT((*reader)->ReadInt64s("F64").status().message(),
              HasSubstr("x.safetensors: tensor \"F64\": float64 is no whole number"));
  std::vector<float> two(2);
  EXPECT_THAT((*reader)->ReadFloats("F32", std::array<int64_t, 1>{2}, two).message(),
              HasSubstr("tensor \"F32\": it is [1], want [2]"));
  EXPECT_THAT((*reader)->Read("none").status(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SafetensorsTest, Bfloat16IsHalfAsLong) {
  const std::array<float, 3> w = {1, -0.15625, 3.140625};
  const std::vector<TensorView> tensors = {FloatTensor("w", {3}, w)};
  ASSERT_THAT(WriteSafetensors(files_, path_, tensors, {.bfloat16 = true}), IsOk());
  auto reader = SafetensorsReader::Open(files_, path_);
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->entries().at("w").dtype, "BF16");
  EXPECT_EQ((*reader)->entries().at("w").size, 6u);
  std::vector<float> got(3);
  ASSERT_THAT((*reader)->ReadFloats("w", std::array<int64_t, 1>{3}, got), IsOk());
  EXPECT_THAT(got, ElementsAre(1, -0.15625, 3.140625));
}

TEST_F(SafetensorsTest, WhatIsNoSafetensorsFileIsRefusedWithItsReason) {
  const std::string four("abcd");
  const struct {
    std::string header, data, reason;
  } cases[] = {
      {"", "", "does not begin with {"},
      {" {}", "", "does not begin with {"},
      {"{", "", "the header is not JSON"},
      {"{}x", "", "the header is not JSON"},
      {"{}", "a", "1 bytes at its end belong to no tensor"},
      {R"({"w":1})", "", "tensor \"w\": has a number where none can be"},
      {R"({"w":null})", "", "tensor \"w\": has a null"},
      {R"({"w":{}})", "", "tensor \"w\": has no dtype"},
      {R"({"w":{"dtype":"F32","shape":[1]}})", four, "has no data_offsets"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", four, "must be two numbers"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", four, "must be two"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", four, "[4, 0] are not"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", four, "are not the 8 bytes"},
      {R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", four, "a negative number"},
      {R"({"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", four, "is not whole"},
      {R"({"w":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", four, "\"F31\" is not known"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", four, "ends at byte 8"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", four + four, "a hole of 4"},
      {R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "",
       "no tensor is so large"},
      {R"({"w":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,0]}})", "",
       "no tensor is so large"},
      {R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("v":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
       four + four, "tensor \"v\": overlaps"},
      {R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("w":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
       four + four, "tensor \"w\": is there twice"},
      {R"({"w":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]}})", four,
       "has dtype twice"},
      {R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1}})", four, "unknown field x"},
      {R"({"w":{"dtype":"U8","shape":[[4]],"data_offsets":[0,4]}})", four, "a list where none"},
      {R"({"w":{"dtype":{"a":1}}})", four, "has an object inside"},
      {R"({"__metadata__":{"a":1}})", "", "a number where none can be"},
      {R"({"__metadata__":{"a":["b"]}})", "", "a list where none can be"},
  };
  for (const auto& test : cases) {
    const absl::Status status = Open(test.header, test.data);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss)) << test.header;
    EXPECT_THAT(status.message(), HasSubstr(test.reason)) << test.header;
    EXPECT_THAT(status.message(), HasSubstr("x.safetensors")) << test.header;
  }
  EXPECT_THAT(Open("[" + std::string(100'000, '['), "").message(), HasSubstr("begin with {"));
  EXPECT_THAT(Open("{\"w\":" + std::string(100'000, '['), "").message(), HasSubstr("a list"));
}

TEST_F(SafetensorsTest, LengthsThatAreTooLargeCostNoMemory) {
  for (const uint64_t length : {uint64_t{9}, uint64_t{200'000'000}, UINT64_MAX}) {
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
    ASSERT_THAT(files_.WriteAtomically(path_, bytes + "{}"), IsOk());
    EXPECT_THAT(SafetensorsReader::Open(files_, path_).status().message(),
                HasSubstr("its header would have " + std::to_string(length)));
  }
  ASSERT_THAT(files_.WriteAtomically(path_, "abc"), IsOk());
  EXPECT_THAT(SafetensorsReader::Open(files_, path_).status().message(),
              HasSubstr("shorter than the header's length"));
}

TEST_F(SafetensorsTest, EmptyTensorsAndTypesThatCannotBeReadDoNoHarm) {
  auto reader = SafetensorsReader::Open(
      files_, Write(R"({"a":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},)"
                    R"("b":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},)"
                    R"("c":{"dtype":"F32","shape":[0],"data_offsets":[2,2]}}  )",
                    "xy"));
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->ReadFloats("a", std::array<int64_t, 2>{0, 3}, {}), IsOk());
  EXPECT_THAT((*reader)->Read("b").status().message(), HasSubstr("cannot read F8_E4M3"));
}

// Whatever a byte is changed to, the answer is an error or a file that can be read.
TEST_F(SafetensorsTest, ChangedBytesNeverCrash) {
  const std::array<float, 3> w = {1, 2, 3};
  const std::vector<TensorView> tensors = {FloatTensor("w", {3}, w), FloatTensor("v", {1, 3}, w)};
  ASSERT_THAT(WriteSafetensors(files_, path_, tensors, {.metadata = {{"a", "b"}}}), IsOk());
  const std::string good = *files_.ReadAll(path_);
  constexpr unsigned kSeed = 1;
  std::mt19937 random(kSeed);
  for (int i = 0; i < 2'000; ++i) {
    std::string bad = good;
    for (int change = 0; change < 1 + i % 3; ++change) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    std::ofstream(path_, std::ios::binary) << bad.substr(0, bad.size() - random() % 2);
    const auto reader = SafetensorsReader::Open(files_, path_);
    if (!reader.ok()) continue;
    for (const auto& [name, entry] : (*reader)->entries()) (void)(*reader)->Read(name);
  }
}

TEST_F(SafetensorsTest, WhatCannotBeWrittenLeavesTheFileAlone) {
  ASSERT_THAT(files_.WriteAtomically(path_, "before"), IsOk());
  const TensorValue text = StringTensor("t", {}, {"a"});
  const std::vector<TensorView> strings = {text.View()};
  EXPECT_THAT(WriteSafetensors(files_, path_, strings, {}).message(),
              HasSubstr("tensor \"t\": safetensors cannot hold string"));
  const std::array<float, 1> w = {1};
  const std::vector<TensorView> twice = {FloatTensor("w", {1}, w), FloatTensor("w", {1}, w)};
  EXPECT_THAT(WriteSafetensors(files_, path_, twice, {}).message(), HasSubstr("name is taken"));
  EXPECT_EQ(*files_.ReadAll(path_), "before");
}

}  // namespace
}  // namespace taas
