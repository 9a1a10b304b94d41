#include "dashboard/events/tensor.h"

#include <bit>
#include <cmath>
#include <string>

#include "dashboard/events/fake_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::Eq;

constexpr size_t kMost = 100;

// A message of the shape `sizes`, to which the numbers are to be added.
FakeMessage OfShape(uint64_t type, const std::vector<uint64_t>& sizes) {
  FakeMessage shape;
  for (const uint64_t size : sizes) shape.Bytes(2, FakeMessage().Varint(1, size).str());
  return FakeMessage().Varint(1, type).Bytes(2, shape.str());
}

template <typename T>
std::string Content(std::initializer_list<T> values) {
  std::string bytes;
  for (const T& value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  return bytes;
}

std::vector<double> Values(const FakeMessage& message) {
  const std::optional<Tensor> tensor = ParseTensor(message.str(), kMost);
  EXPECT_TRUE(tensor.has_value());
  return tensor ? tensor->values : std::vector<double>();
}

TEST(TensorTest, BytesOfEveryTypeAreRead) {
  EXPECT_THAT(Values(OfShape(1, {2}).Bytes(4, Content<float>({1.5f, -2}))), ElementsAre(1.5, -2));
  EXPECT_THAT(Values(OfShape(2, {2}).Bytes(4, Content<double>({0.1, -2}))), ElementsAre(0.1, -2));
  EXPECT_THAT(Values(OfShape(3, {2}).Bytes(4, Content<int32_t>({-1, 7}))), ElementsAre(-1, 7));
  EXPECT_THAT(Values(OfShape(4, {1}).Bytes(4, Content<uint8_t>({200}))), ElementsAre(200));
  EXPECT_THAT(Values(OfShape(5, {1}).Bytes(4, Content<int16_t>({-9}))), ElementsAre(-9));
  EXPECT_THAT(Values(OfShape(6, {1}).Bytes(4, Content<int8_t>({-9}))), ElementsAre(-9));
  EXPECT_THAT(Values(OfShape(9, {1}).Bytes(4, Content<int64_t>({-9}))), ElementsAre(-9));
  EXPECT_THAT(Values(OfShape(10, {2}).Bytes(4, Content<char>({0, 1}))), ElementsAre(0, 1));
  EXPECT_THAT(Values(OfShape(17, {1}).Bytes(4, Content<uint16_t>({65535}))), ElementsAre(65535));
  EXPECT_THAT(Values(OfShape(22, {1}).Bytes(4, Content<uint32_t>({1u << 31}))),
              ElementsAre(2147483648.0));
  EXPECT_THAT(Values(OfShape(23, {1}).Bytes(4, Content<uint64_t>({7}))), ElementsAre(7));
}

TEST(TensorTest, NumbersOfSixteenBitsAreRead) {
  const auto halves = Content<uint16_t>({0x3c00, 0xc000, 0x0001, 0x7c00, 0xfc00, 0x7bff});
  const std::vector<double> half = Values(OfShape(19, {6}).Bytes(4, halves));
  EXPECT_THAT(half, ElementsAre(1, -2, DoubleEq(std::ldexp(1, -24)), HUGE_VAL, -HUGE_VAL, 65504));
  EXPECT_TRUE(std::isnan(Values(OfShape(19, {1}).Bytes(4, Content<uint16_t>({0x7e00})))[0]));
  EXPECT_THAT(Values(OfShape(14, {2}).Bytes(4, Content<uint16_t>({0x3f80, 0xc040}))),
              ElementsAre(1, -3));
  EXPECT_THAT(Values(OfShape(19, {}).Varint(13, 0x3c00)), ElementsAre(1));
  EXPECT_THAT(Values(OfShape(14, {}).Varint(13, 0x3f80)), ElementsAre(1));
}

TEST(TensorTest, ListsOfEveryTypeAreRead) {
  EXPECT_THAT(Values(OfShape(1, {}).Float(5, 1.5f)), ElementsAre(1.5));
  EXPECT_THAT(Values(OfShape(2, {2}).Doubles(6, {0.1, 3})), ElementsAre(0.1, 3));
  EXPECT_THAT(Values(OfShape(3, {}).Varint(7, static_cast<uint64_t>(-5))), ElementsAre(-5));
  EXPECT_THAT(Values(OfShape(9, {}).Varint(10, static_cast<uint64_t>(-5))), ElementsAre(-5));
  EXPECT_THAT(Values(OfShape(10, {}).Varint(11, 1)), ElementsAre(1));
  EXPECT_THAT(Values(OfShape(22, {}).Varint(16, 4000000000)), ElementsAre(4e9));
  EXPECT_THAT(Values(OfShape(23, {}).Varint(17, uint64_t{1} << 63)), ElementsAre(0x1p63));
}

TEST(TensorTest, OneNumberStandsForAllOfTheShape) {
  EXPECT_THAT(Values(OfShape(2, {2, 2}).Double(6, 3)), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(Values(OfShape(2, {0, 3}).Double(6, 3)), ElementsAre());
  EXPECT_THAT(Values(OfShape(2, {0, 3})), ElementsAre());
}

TEST(TensorTest, WhatDoesNotFillItsShapeIsRefused) {
  for (const FakeMessage& message : {
           OfShape(2, {3}).Doubles(6, {1, 2}), OfShape(2, {1}).Doubles(6, {1, 2}),
           OfShape(2, {}), OfShape(1, {2}).Bytes(4, "1234567"),
           OfShape(1, {static_cast<uint64_t>(-1)}).Float(5, 1),
           OfShape(7, {}).Bytes(8, "text"), OfShape(99, {}).Float(5, 1)}) {
    EXPECT_THAT(ParseTensor(message.str(), kMost), Eq(std::nullopt));
  }
}

TEST(TensorTest, MoreNumbersThanAskedAreRefusedBeforeTheyTakeMemory) {
  EXPECT_THAT(ParseTensor(OfShape(1, {101}).Float(5, 1).str(), kMost), Eq(std::nullopt));
  const uint64_t huge = uint64_t{1} << 62;
  EXPECT_THAT(ParseTensor(OfShape(1, {huge, huge, 4}).Float(5, 1).str(), kMost), Eq(std::nullopt));
  EXPECT_THAT(ParseTensor(OfShape(9, {101}).Bytes(10, std::string(101, '\1')).str(), kMost),
              Eq(std::nullopt));
  EXPECT_THAT(ParseTensor(OfShape(6, {101}).Bytes(4, std::string(101, '\1')).str(), kMost),
              Eq(std::nullopt));
}

TEST(TensorTest, BytesThatAreNoMessageAreRefused) {
  EXPECT_THAT(ParseTensor("\xff", kMost), Eq(std::nullopt));
  EXPECT_THAT(ParseTensor(FakeMessage().Varint(1, 1).Bytes(2, "\xff").str(), kMost),
              Eq(std::nullopt));
}

}  // namespace
}  // namespace taas::dashboard
