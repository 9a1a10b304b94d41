#include "dashboard/server/login_help.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

std::string Token(const std::string& claims) {
  return "eyJhbGciOiJSUzI1NiJ9." + absl::WebSafeBase64Escape(claims) + ".c2lnbmF0dXJl";
}

TEST(ServiceAccountOfTest, IsWhatTheTokenSays) {
  const auto account =
      ServiceAccountOf(Token(R"({"sub":"system:serviceaccount:taas-system:taas-dashboard"})"));
  ASSERT_TRUE(account.has_value());
  EXPECT_EQ(account->ns, "taas-system");
  EXPECT_EQ(account->name, "taas-dashboard");
}

TEST(ServiceAccountOfTest, OtherTokensAreNobodys) {
  for (const std::string& token :
       {std::string(), std::string("0123abcd"), std::string("a.b"), std::string("a.!.c"),
        Token("{"), Token(R"({"sub":7})"), Token(R"({"sub":"ann"})"),
        Token(R"({"sub":"system:serviceaccount:only"})")}) {
    EXPECT_FALSE(ServiceAccountOf(token).has_value()) << token;
  }
}

// Symptom: the login page of a local cluster offered `kubectl create token` and `taas dashboard`,
// and both failed: its API server makes no tokens, and the cluster was in another directory.
TEST(LoginHelpTest, NamesCommandsOfThisVeryCluster) {
  EXPECT_EQ((LoginHelp{.link_command = "taas open --dir /home/me/taas"}.Json()),
            R"({"link":"taas open --dir /home/me/taas","local":true})");
  EXPECT_EQ((LoginHelp{.account = ServiceAccount{.ns = "n", .name = "d"}}.Json()),
            R"({"account":{"name":"d","namespace":"n"},"local":false})");
}

}  // namespace
}  // namespace taas::dashboard
