#include "localkube/api/serve/warning_headers.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::localkube {
namespace {

using ::testing::ElementsAre;

TEST(WarningHeadersTest, AShortWarningIsQuotedAndToldOnce) {
  EXPECT_THAT(WarningHeaders({R"(unknown field "spec.x\y")", "", R"(unknown field "spec.x\y")"}),
              ElementsAre(R"(299 - "unknown field \"spec.x\\y\"")"));
}

// One POST with an unknown field whose name had 66,000 characters ended the local cluster.
TEST(WarningHeadersTest, OneLongWarningIsCut) {
  const std::string front(kCutWarningCharacters, 'x');
  EXPECT_THAT(WarningHeaders({std::string(70'000, 'x')}), ElementsAre("299 - \"" + front + "\""));
}

// 50,000 unknown fields made 2.4 MB of headers, which no client reads.
TEST(WarningHeadersTest, ManyWarningsAreCutAndEndAtTheTotal) {
  std::vector<std::string> many;
  for (int i = 0; i < 50'000; ++i) many.push_back("unknown field \"spec.f" + std::to_string(i));
  size_t characters = 0;
  for (const std::string& header : WarningHeaders(many)) characters += header.size();
  EXPECT_GT(characters, kWarningCharactersMax);
  EXPECT_LT(characters, 2 * kWarningCharactersMax);
  many = {std::string(4'000, 'a'), std::string(200, 'b'), std::string(300, 'c')};
  EXPECT_THAT(WarningHeaders(many),
              ElementsAre("299 - \"" + std::string(256, 'a') + "\"",
                          "299 - \"" + std::string(200, 'b') + "\"",
                          "299 - \"" + std::string(256, 'c') + "\""));
}

TEST(WarningHeadersTest, FourThousandCharactersAreWholeAndCountedAsCharacters) {
  const std::string text(4'096, 'x');
  EXPECT_THAT(WarningHeaders({text}), ElementsAre("299 - \"" + text + "\""));
  std::string umlauts;
  for (int i = 0; i < 4'096; ++i) umlauts += "ü";
  EXPECT_THAT(WarningHeaders({umlauts}), ElementsAre("299 - \"" + umlauts + "\""));
  EXPECT_EQ(WarningHeaders({umlauts + "ü"})[0].size(), 2 * 256 + 8u);
}

// A field named by a tenant could give commands to the terminal of whoever sees the warning.
TEST(WarningHeadersTest, WhatSteersATerminalBecomesASpace) {
  EXPECT_THAT(WarningHeaders({"a\x1b]0;t\x07" "b\r\nc\xc2\x9b" "d\xff"}),
              ElementsAre("299 - \"a ]0;t b  c d\xef\xbf\xbd\""));
}

}  // namespace
}  // namespace taas::localkube
