#include "trainer/comm/greeting.h"

#include <string>

#include "gtest/gtest.h"

namespace taas::comm {
namespace {

TEST(GreetingTest, TextIsReadBackAndThatOfABuildWithoutTokensIsOneWithoutAToken) {
  for (const Greeting& greeting : {Greeting{"uid/2", ""}, Greeting{"uid/2", "secret"},
                                   Greeting{"", ""}, Greeting{"", "secret"}}) {
    EXPECT_EQ(ParseGreeting(GreetingText(greeting)), greeting);
  }
  EXPECT_EQ(GreetingText({"uid/2", ""}), "uid/2");
  EXPECT_EQ(ParseGreeting("uid/2\n"), (Greeting{"uid/2", ""}));
  EXPECT_EQ(ParseGreeting("uid/2\na\nb"), (Greeting{"uid/2", "a\nb"}));
}

// Symptom: whoever knew a job's uid, which is no secret, could train with it and end it.
TEST(GreetingTest, WhoDoesNotHaveTheTokenIsNotWelcomeWhereThereIsOne) {
  const Greeting own{"uid/2", "secret"};
  EXPECT_TRUE(IsWelcome(own, {"uid/2", "secret"}));
  for (const char* token : {"", "secre", "secrets", "Secret", "secreT"}) {
    EXPECT_FALSE(IsWelcome(own, {"uid/2", token})) << token;
  }
  EXPECT_FALSE(IsWelcome(own, {"uid/1", "secret"}));
  EXPECT_FALSE(IsWelcome(own, {"", "secret"}));
}

TEST(GreetingTest, JobsThatBeganBeforeThereWereTokensGoOnWithout) {
  EXPECT_TRUE(IsWelcome({"uid/2", ""}, {"uid/2", ""}));
  EXPECT_TRUE(IsWelcome({"uid/2", ""}, {"uid/2", "secret"}));
  EXPECT_FALSE(IsWelcome({"uid/2", ""}, {"uid/1", ""}));
  EXPECT_TRUE(IsWelcome({"", ""}, {"anybody", ""}));
}

TEST(GreetingTest, TokensArePrintableAndNotEmpty) {
  EXPECT_TRUE(IsToken("0123456789abcdef"));
  EXPECT_TRUE(IsToken(std::string(kTokenBytesMax, '~')));
  for (const std::string& text : {std::string(), std::string("a b"), std::string("a\n"),
                                  std::string("\xc3\xa4"), std::string(kTokenBytesMax + 1, 'a'),
                                  std::string(1, '\0')}) {
    EXPECT_FALSE(IsToken(text)) << text;
  }
}

}  // namespace
}  // namespace taas::comm
