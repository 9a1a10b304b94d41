#include "operator/base/protobuf_slice.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

// "3:text" or "4=17" for each field.
absl::StatusOr<std::vector<std::string>> FieldsOf(std::string_view message) {
  std::vector<std::string> fields;
  const absl::Status status = ForEachField(message, [&](const ProtobufField& field) {
    fields.push_back(std::to_string(field.number) +
                     (field.has_bytes ? ":" + std::string(field.bytes)
                                      : "=" + std::to_string(static_cast<int64_t>(field.varint))));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return fields;
}

TEST(ProtobufSliceTest, FieldsComeInTheOrderOfTheMessage) {
  // The examples of the encoding's documentation: 150 and "testing".
  const auto fields = FieldsOf("\x08\x96\x01\x12\x07testing");
  ASSERT_THAT(fields, IsOk());
  EXPECT_THAT(*fields, ElementsAre("1=150", "2:testing"));
}

TEST(ProtobufSliceTest, WhatIsAppendedIsFoundAgain) {
  std::string message;
  AppendField(1, std::string(300, 'x'), &message);
  AppendField(17, static_cast<uint64_t>(-2), &message);
  AppendField(2, std::string_view(""), &message);
  AppendField(100'000, uint64_t{0}, &message);
  const auto fields = FieldsOf(message);
  ASSERT_THAT(fields, IsOk());
  EXPECT_THAT(*fields, ElementsAre("1:" + std::string(300, 'x'), "17=-2", "2:", "100000=0"));
}

TEST(ProtobufSliceTest, FieldsOfAFixedWidthArePassedOver) {
  const auto fields = FieldsOf("\x09\1\2\3\4\5\6\7\x8\x15\1\2\3\4\x18\x05"s);
  ASSERT_THAT(fields, IsOk());
  EXPECT_THAT(*fields, ElementsAre("3=5"));
}

TEST(ProtobufSliceTest, WhatIsNoMessageIsRefused) {
  for (const std::string& bad :
       {"\x08"s, "\x08\x96"s, "\x12\x07test"s, "\x12"s, "\x09\1"s, "\x15\1"s, "\x0b"s, "\x0f"s,
        "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"s, std::string(11, '\xff')}) {
    EXPECT_THAT(FieldsOf(bad).status(), StatusIs(absl::StatusCode::kInvalidArgument))
        << testing::PrintToString(bad);
  }
}

TEST(ProtobufSliceTest, AnErrorOfTheCallerEndsTheReading) {
  int calls = 0;
  const absl::Status status = ForEachField("\x08\1\x08\2", [&](const ProtobufField&) {
    ++calls;
    return absl::DataLossError("stop");
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace taas
