// Authenticator and Access against an API server that the test plays.

#include <memory>
#include <string>
#include <vector>

#include "dashboard/server/access.h"
#include "dashboard/server/authenticator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/fake_transport.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;

class AuthTest : public testing::Test {
 protected:
  void Run(std::chrono::seconds time = 0s) {
    executor_.RunUntil(executor_.clock().Now() + time, [] { return false; });
  }
  void Reply(int code, const json& body) {
    transport_.Reply(HttpReply{.code = code, .body = body.dump()});
    Run();
  }
  static json Review(const std::string& user, std::vector<std::string> groups = {"g"}) {
    return {{"status",
             {{"authenticated", true}, {"user", {{"username", user}, {"groups", groups}}}}}};
  }
  json Asked() const { return json::parse(transport_.request().body); }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
};

class AuthenticatorTest : public AuthTest {
 protected:
  // The user, or the code of the error; "" while there is no answer.
  std::shared_ptr<std::string> Ask(const std::string& token) {
    auto answer = std::make_shared<std::string>();
    authenticator_.Authenticate(token, [answer](const absl::StatusOr<IdentityPtr>& who) {
      *answer = who.ok() ? (*who)->user : absl::StatusCodeToString(who.status().code());
    });
    return answer;
  }
  Authenticator authenticator_{transport_, executor_};
};

TEST_F(AuthenticatorTest, ATokenIsWhoseTheApiServerSaysItIs) {
  const auto who = Ask("t1");
  EXPECT_EQ(Asked()["spec"]["token"], "t1");
  Reply(201, Review("ann"));
  EXPECT_EQ(*who, "ann");
}

TEST_F(AuthenticatorTest, AnAnswerIsBelievedForAWhileAndOneQuestionServesAll) {
  const auto first = Ask("t1");
  const auto second = Ask("t1");
  EXPECT_EQ(transport_.waiting(), 1);
  Reply(201, Review("ann"));
  EXPECT_EQ(*first + *second, "annann");
  Run(29s);
  EXPECT_EQ(*Ask("t1"), "ann");
  Run(2s);
  Ask("t1");
  EXPECT_EQ(transport_.waiting(), 1);
}

TEST_F(AuthenticatorTest, ATokenThatWasRevokedIsNobodys) {
  Ask("t1");
  Reply(201, Review("ann"));
  Run(31s);
  const auto later = Ask("t1");
  Reply(201, {{"status", {{"authenticated", false}}}});
  EXPECT_EQ(*later, "UNAUTHENTICATED");
  EXPECT_EQ(*Ask("t1"), "UNAUTHENTICATED");  // Without asking again at once.
  EXPECT_EQ(transport_.waiting(), 0);
}

TEST_F(AuthenticatorTest, WhileTheApiServerIsAwayWhatWasBelievedStands) {
  Ask("t1");
  Reply(201, Review("ann"));
  Run(31s);
  const auto known = Ask("t1");
  transport_.Reply(absl::UnavailableError("connection refused"));
  Run();
  EXPECT_EQ(*known, "ann");
  const auto stranger = Ask("t2");
  transport_.Reply(absl::UnavailableError("connection refused"));
  Run();
  EXPECT_EQ(*stranger, "UNAVAILABLE");
  Run(11min);
  const auto much_later = Ask("t1");
  transport_.Reply(absl::UnavailableError("connection refused"));
  Run();
  EXPECT_EQ(*much_later, "UNAVAILABLE");
}

TEST_F(AuthenticatorTest, WhatCannotBeATokenIsNotAskedFor) {
  for (const char* token : {"", "a b", "a\r\nImpersonate-User: root", "ä"}) {
    EXPECT_EQ(*Ask(token), "UNAUTHENTICATED") << token;
  }
  EXPECT_EQ(transport_.waiting(), 0);
}

TEST_F(AuthenticatorTest, WhoGuessesIsSlowedDown) {
  int asked = 0;
  for (int i = 0; i < 1'000; ++i) {
    if (*Ask("guess" + std::to_string(i)) != "RESOURCE_EXHAUSTED") ++asked;
  }
  EXPECT_EQ(asked, static_cast<int>(Authenticator::kReviews.burst));
}

TEST_F(AuthenticatorTest, OddAnswersAreNobodys) {
  for (const json& answer :
       {json::object(), json{{"status", 7}}, json{{"status", {{"authenticated", "true"}}}},
        json{{"status", {{"authenticated", true}, {"user", 1}}}}}) {
    const auto who = Ask("t" + std::to_string(answer.dump().size()));
    Reply(201, answer);
    EXPECT_EQ(*who, "UNAUTHENTICATED") << answer;
  }
  const auto who = Ask("t");
  Reply(403, {{"kind", "Status"}, {"message", "no"}});
  EXPECT_EQ(*who, "FAILED_PRECONDITION");
}

class AccessTest : public AuthTest {
 protected:
  std::shared_ptr<std::vector<bool>> Ask(const std::vector<AccessQuestion>& questions,
                                         const std::string& user = "ann") {
    auto identity = std::make_shared<Identity>();
    identity->user = user;
    identity->groups = {"team"};
    identity->key = user;
    auto answer = std::make_shared<std::vector<bool>>();
    access_.Check(identity, questions,
                  [answer](const std::vector<bool>& may) { *answer = may; });
    return answer;
  }
  static AccessQuestion Jobs(const std::string& ns) {
    return {.verb = "list", .group = "taas.dev", .resource = "trainingjobs", .ns = ns};
  }
  void Say(bool may) { Reply(201, {{"status", {{"allowed", may}}}}); }

  Access access_{transport_, executor_};
};

TEST_F(AccessTest, EachQuestionIsAskedForTheCallerAndAnsweredInOrder) {
  const auto may = Ask({Jobs("a"), Jobs("b")});
  const json asked = Asked()["spec"];
  EXPECT_EQ(asked["user"], "ann");
  EXPECT_EQ(asked["groups"], json({"team"}));
  EXPECT_EQ(asked["resourceAttributes"]["namespace"], "a");
  EXPECT_EQ(asked["resourceAttributes"]["resource"], "trainingjobs");
  Say(false);
  Say(true);
  EXPECT_THAT(*may, ElementsAre(false, true));
}

TEST_F(AccessTest, AnAnswerCountsForHalfAMinuteAndForThisUserOnly) {
  Ask({Jobs("a")});
  Say(true);
  EXPECT_THAT(*Ask({Jobs("a")}), ElementsAre(true));
  EXPECT_EQ(transport_.waiting(), 0);
  Ask({Jobs("a")}, "bob");
  EXPECT_EQ(transport_.waiting(), 1);
  Say(false);
  Run(31s);
  const auto later = Ask({Jobs("a")});
  Say(false);
  EXPECT_THAT(*later, ElementsAre(false));
}

TEST_F(AccessTest, NoAnswerIsNo) {
  const auto never_known = Ask({Jobs("a")});
  transport_.Reply(absl::UnavailableError("connection refused"));
  Run();
  EXPECT_THAT(*never_known, ElementsAre(false));
  const auto refused = Ask({Jobs("a")});
  Reply(403, {{"kind", "Status"}});
  EXPECT_THAT(*refused, ElementsAre(false));
  const auto odd = Ask({Jobs("b")});
  Reply(201, {{"status", {{"allowed", "true"}}}});
  EXPECT_THAT(*odd, ElementsAre(false));
}

}  // namespace
}  // namespace taas::dashboard
