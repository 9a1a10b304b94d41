#include "operator/base/shorten.h"

#include <string>

#include "gtest/gtest.h"
#include "operator/base/utf8.h"

namespace taas {
namespace {

// Symptom: the message of an image that could not be pulled ended in the middle of a word, without
// a mark, and the reason at its end was lost.
TEST(ShortenTest, TheBeginningAndTheEndOfALongErrorAreKeptAndTheCutIsMarked) {
  const std::string text =
      "Back-off pulling image \"ghcr.io/acme/trainer:1\": ErrImagePull: failed to pull and unpack "
      "image \"ghcr.io/acme/trainer:1\": failed to do request: Head "
      "\"https://ghcr.io/v2/acme/trainer/manifests/1\": dial tcp 140.82.121.34:443: connect: "
      "network is unreachable";
  const std::string shortened = Shortened(text, 160);
  EXPECT_LE(shortened.size(), 160u);
  EXPECT_EQ(shortened,
            "Back-off pulling image \"ghcr.io/acme/trainer:1\": ErrImagePull: failed to pull and "
            "unpack image … 140.82.121.34:443: connect: network is unreachable");
  EXPECT_EQ(Shortened(shortened, 160), shortened);
}

TEST(ShortenTest, WhatFitsStaysAsItIs) {
  EXPECT_EQ(Shortened("disk full", 9), "disk full");
  EXPECT_EQ(Shortened("", 0), "");
}

TEST(ShortenTest, ATextWithoutSpacesIsCutInItsMiddleButInsideNoCharacter) {
  for (size_t bytes = 0; bytes < 90; ++bytes) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += i % 2 == 0 ? "日" : "é";
    const std::string shortened = Shortened(text, bytes);
    EXPECT_LE(shortened.size(), bytes);
    EXPECT_EQ(WithValidUtf8(shortened), shortened) << bytes;
    if (bytes > 20 && bytes < text.size()) {
      EXPECT_GE(shortened.size(), bytes - 6) << bytes;
    }
  }
}

}  // namespace
}  // namespace taas
