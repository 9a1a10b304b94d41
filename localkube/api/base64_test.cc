#include "localkube/api/base64.h"

#include "gtest/gtest.h"

namespace taas::localkube {
namespace {

TEST(Base64Test, EveryLengthIsPaddedAndComesBack) {
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("f"), "Zg==");
  EXPECT_EQ(EncodeBase64("fo"), "Zm8=");
  EXPECT_EQ(EncodeBase64("foo"), "Zm9v");
  for (size_t size = 0; size < 70; ++size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 37 + 200);
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes) << size;
  }
}

TEST(Base64Test, WhatIsNoneIsRefused) {
  for (const char* text : {"Zg", "Zg=", "====", "Z g=", "Zm9v\n", "=m9v", "Z-9v"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace taas::localkube
