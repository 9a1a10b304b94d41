#include "dashboard/server/request_guard.h"

#include "dashboard/http/secret_text.h"
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

// Symptom: the cookie was the API server's token, and a browser sends cookies to every port of the
// host: another user's page, or a tenant's TensorBoard beside the dashboard, got the token.
TEST(RequestGuardTest, OfASessionEachHalfAloneIsWorthNothing) {
  const std::string half = Sealed("key", "secret");
  EXPECT_EQ(TokenOf(With({{"cookie", "a=b; taas_session=key; c=d"}, {"x-taas-session", half}})),
            "secret");
  EXPECT_EQ(TokenOf(With({{"cookie", "taas_session=key"}})), "");
  EXPECT_EQ(TokenOf(With({{"x-taas-session", half}})), "");
  EXPECT_EQ(TokenOf(With({{"cookie", "taas_session=other"}, {"x-taas-session", half}})), "");
  EXPECT_EQ(TokenOf(With({{"cookie", "taas_session=key"}, {"x-taas-session", "secret"}})), "");
  // As the cookie was before: the token itself.
  EXPECT_EQ(TokenOf(With({{"cookie", "taas_session=secret"}})), "");
}

TEST(RequestGuardTest, TheTokenIsThatOfTheHeaderElseOfTheSession) {
  const std::string half = Sealed("key", "t1");
  EXPECT_EQ(TokenOf(With({})), "");
  EXPECT_EQ(TokenOf(With({{"cookie", "taas_sessionx=key; b"}, {"x-taas-session", half}})), "");
  EXPECT_EQ(TokenOf(With({{"host", "h:81"},
                          {"cookie", "taas_session_80=key"},
                          {"x-taas-session", half}})),
            "");
  EXPECT_EQ(TokenOf(With({{"host", "[::1]:80"},
                          {"cookie", "taas_session_80=key"},
                          {"x-taas-session", half}})),
            "t1");
  EXPECT_EQ(TokenOf(With({{"cookie", "taas_session=key"},
                          {"x-taas-session", half},
                          {"authorization", "Bearer t2"}})),
            "t2");
}

}  // namespace
}  // namespace taas::dashboard
