#include "dashboard/http/secret_text.h"

#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

TEST(SealedTest, OnlyItsKeyOpensIt) {
  const std::string key = RandomSecret();
  for (const size_t size : {0, 1, 1'000, 16 << 10}) {
    const std::string token(size, 't');
    const std::string sealed = Sealed(key, token);
    EXPECT_EQ(Opened(key, sealed), token);
    EXPECT_FALSE(Opened(RandomSecret(), sealed).has_value());
    EXPECT_FALSE(Opened("", sealed).has_value());
  }
}

TEST(SealedTest, SaysNothingOfTheText) {
  const std::string sealed = Sealed(RandomSecret(), "eyJhbGciOi.secret.token");
  EXPECT_EQ(sealed.find("secret"), std::string::npos);
  EXPECT_NE(Sealed(RandomSecret(), "token"), Sealed(RandomSecret(), "token"));
}

TEST(SealedTest, WhatWasChangedOrIsNoneIsNotOpened) {
  const std::string key = RandomSecret();
  const std::string sealed = Sealed(key, "a token!");
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(Opened(key, changed).has_value()) << i;
  }
  for (const char* none : {"", "A", "!!!!", "AAAAAAAAAAAAAAAAAAAA", "a b"}) {
    EXPECT_FALSE(Opened(key, none).has_value()) << none;
  }
  EXPECT_FALSE(Opened(key, sealed.substr(0, sealed.size() - 4)).has_value());
}

}  // namespace
}  // namespace taas::dashboard
