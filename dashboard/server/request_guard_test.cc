#include "dashboard/server/request_guard.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas::dashboard {
namespace {

constexpr auto kDenied = absl::StatusCode::kPermissionDenied;

WebRequest With(std::initializer_list<std::pair<const std::string, std::string>> headers) {
  WebRequest request{.method = "POST"};
  for (const auto& [name, value] : headers) request.headers[name] = value;
  return request;
}

TEST(RequestGuardTest, OnThisMachineOnlyItsOwnNamesAreTaken) {
  const RequestGuard guard({.loopback_only = true});
  for (const char* host :
       {"localhost", "localhost:8090", "127.0.0.1:1", "[::1]:8090", "LOCALHOST"}) {
    EXPECT_THAT(guard.CheckHost(With({{"host", host}})), IsOk()) << host;
  }
  // A name of an attacker's that resolves to this machine.
  for (const char* host : {"evil.example", "evil.example:8090", "127.0.0.1.evil.example", ""}) {
    EXPECT_THAT(guard.CheckHost(With({{"host", host}})), StatusIs(kDenied)) << host;
  }
}

TEST(RequestGuardTest, NamedHostsAreTheOnlyOnes) {
  const RequestGuard guard({.hosts = {"taas.example"}});
  EXPECT_THAT(guard.CheckHost(With({{"host", "TaaS.example:443"}})), IsOk());
  EXPECT_THAT(guard.CheckHost(With({{"host", "other.example"}})), StatusIs(kDenied));
  EXPECT_THAT(RequestGuard({}).CheckHost(With({{"host", "any.example"}})), IsOk());
}

TEST(RequestGuardTest, APageOfAnotherOriginCannotAsk) {
  const RequestGuard guard({});
  EXPECT_THAT(guard.CheckOrigin(With({{"host", "a:1"}})), IsOk());
  EXPECT_THAT(guard.CheckOrigin(With({{"host", "a:1"}, {"origin", "http://a:1"}})), IsOk());
  EXPECT_THAT(guard.CheckOrigin(With({{"host", "a"}, {"origin", "https://A"}})), IsOk());
  for (const char* origin : {"http://b:1", "http://a", "http://a:1.b", "null", "a:1", "http://"}) {
    EXPECT_THAT(guard.CheckOrigin(With({{"host", "a:1"}, {"origin", origin}})), StatusIs(kDenied))
        << origin;
  }
  EXPECT_THAT(guard.CheckOrigin(With({{"sec-fetch-site", "same-origin"}})), IsOk());
  EXPECT_THAT(guard.CheckOrigin(With({{"sec-fetch-site", "none"}})), IsOk());
  for (const char* site : {"cross-site", "same-site"}) {
    EXPECT_THAT(guard.CheckOrigin(With({{"sec-fetch-site", site}})), StatusIs(kDenied)) << site;
  }
}

TEST(RequestGuardTest, AWriteWithACookieNeedsTheTokenThatOnlyThePageKnows) {
  const RequestGuard guard({});
  const RequestToken cookie{.token = "secret", .by_cookie = true};
  EXPECT_THAT(guard.CheckCsrf(With({}), cookie), StatusIs(kDenied));
  EXPECT_THAT(guard.CheckCsrf(With({{"x-taas-csrf", CsrfOf("other")}}), cookie),
              StatusIs(kDenied));
  EXPECT_THAT(guard.CheckCsrf(With({{"x-taas-csrf", CsrfOf("secret")}}), cookie), IsOk());
  // Nobody's browser sends a bearer token by itself.
  EXPECT_THAT(guard.CheckCsrf(With({}), {.token = "secret", .by_cookie = false}), IsOk());
}

TEST(RequestGuardTest, TheTokenIsThatOfTheHeaderElseOfTheCookie) {
  EXPECT_FALSE(TokenOf(With({})).has_value());
  EXPECT_FALSE(TokenOf(With({{"cookie", "taas_sessionx=a; b"}})).has_value());
  const auto cookie = TokenOf(With({{"cookie", "a=b; taas_session=t1; c=d"}}));
  ASSERT_TRUE(cookie.has_value());
  EXPECT_EQ(cookie->token, "t1");
  EXPECT_TRUE(cookie->by_cookie);
  const WebRequest other_port = With({{"host", "h:81"}, {"cookie", "taas_session_80=a"}});
  EXPECT_FALSE(TokenOf(other_port).has_value());
  EXPECT_EQ(TokenOf(With({{"host", "[::1]:80"}, {"cookie", "taas_session_80=a"}}))->token, "a");
  const auto header =
      TokenOf(With({{"cookie", "taas_session=t1"}, {"authorization", "Bearer t2"}}));
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->token, "t2");
  EXPECT_FALSE(header->by_cookie);
}

}  // namespace
}  // namespace taas::dashboard
