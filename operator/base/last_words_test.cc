#include "operator/base/last_words.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Symptom: the message of a misspelt flag began with "Run `taas-trainer --help` for more".
TEST(LastWordsTest, WhatIsWrongCountsAndNotTheHintAtTheHelp) {
  EXPECT_EQ(LastWords("loading\ntaas-trainer: there is no option --lr\n"
                      "Run `taas-trainer --help` for more information.\n"),
            "taas-trainer: there is no option --lr (after: loading)");
}

// Symptom: of a program that failed with a long traceback the message held the first 500 bytes of
// what was kept of its log, and not the exception.
TEST(LastWordsTest, TheExceptionComesFirstAndWhatLedToItBehindIt) {
  EXPECT_EQ(LastWords("Traceback (most recent call last):\n"
                      "  File \"train.py\", line 3, in <module>\n"
                      "    main()\n"
                      "ValueError: bad shape\n\n"),
            "ValueError: bad shape (after: Traceback (most recent call last): | File \"train.py\", "
            "line 3, in <module> | main())");
  std::string deep = "Traceback (most recent call last):\n";
  for (int i = 0; i < 400; ++i) {
    deep += "  File \"train.py\", line " + std::to_string(i) + ", in f\n    f(n + 1)\n";
  }
  const std::string words = LastWords(deep + "RecursionError: maximum depth exceeded\n");
  EXPECT_THAT(words, StartsWith("RecursionError: maximum depth exceeded (after: "));
  EXPECT_THAT(words, HasSubstr("line 399"));
  EXPECT_THAT(words, Not(HasSubstr("line 100,")));
  EXPECT_LE(words.size(), kLastWordsBytesMax);
}

// Symptom: a progress bar that is drawn anew with carriage returns was quoted from its beginning.
TEST(LastWordsTest, OfAProgressBarTheLastStateCounts) {
  EXPECT_THAT(LastWords("  0%|   | 0/9\r 50%|█  | 4/9\r100%|██| 9/9\r\nKilled by me\r\n"),
              StartsWith("Killed by me (after: "));
  EXPECT_THAT(LastWords(" 0%|   | 0/9\r 50%|#  | 4/9"), StartsWith("50%|#  | 4/9"));
}

TEST(LastWordsTest, ALineOfKilobytesIsCutAtACharacter) {
  const std::string text = "before\nerror: " + std::string(489, 'a') + "\xc3\xa9" +
                           std::string(9000, 'b') + "\n";
  const std::string words = LastWords(text);
  EXPECT_THAT(words, StartsWith("error: aaa"));
  EXPECT_THAT(words, EndsWith("a…"));
  EXPECT_LE(words.size(), kLastWordsBytesMax);
}

TEST(LastWordsTest, ColoursAndControlCharactersAreLeftOut) {
  EXPECT_EQ(LastWords("\x1b[1;31mERROR\x1b[0m: no\x07 data\t!\x1b["), "ERROR: no  data !");
  EXPECT_EQ(LastWords("\x1b]0;title\x07hello"), "]0;title hello");
}

TEST(LastWordsTest, OneLineIsItselfAndNothingIsNothing) {
  EXPECT_EQ(LastWords("open /a: not found\n"), "open /a: not found");
  EXPECT_EQ(LastWords(""), "");
  EXPECT_EQ(LastWords(" \r\n\t\n"), "");
}

TEST(LastLineTest, OfManyTheLastThatSaysSomethingStandsAlone) {
  EXPECT_EQ(LastLine("INFO: using config\nTraceback:\nValueError: bad shape\n\n"),
            "ValueError: bad shape");
  EXPECT_EQ(LastLine("1 %\r2 %\r"), "2 %");
  // Symptom: a line that was cut was three bytes longer than a message may be.
  EXPECT_EQ(LastLine(std::string(2'000, 'x')), std::string(kLastWordsBytesMax - 3, 'x') + "…");
  EXPECT_EQ(LastLine(" \n"), "");
}

}  // namespace
}  // namespace taas
