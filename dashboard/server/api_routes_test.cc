#include "dashboard/server/api_routes.h"

#include <new>
#include <stdexcept>

#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;

class ApiRoutesTest : public testing::Test {
 protected:
  // The code of the answer; 0: there was none.
  int Get(const std::string& path, const std::string& token) {
    WebRequest request{.method = "GET", .segments = {"api", path}};
    if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
    answer_ = {.code = 0};
    routes_.Handle(std::move(request), [this](WebResponse answer) { answer_ = std::move(answer); });
    if (transport_.waiting() > 0) {
      const json review = {{"status", {{"authenticated", true}, {"user", {{"username", "ann"}}}}}};
      transport_.Reply(HttpReply{.code = 201, .body = review.dump()});
      executor_.RunUntil(executor_.clock().Now(), [] { return false; });
    }
    return answer_.code;
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  Authenticator authenticator_{transport_, executor_};
  const RequestGuard guard_{{}};
  ApiRoutes routes_{{.executor = executor_, .authenticator = authenticator_, .guard = guard_}};
  WebResponse answer_;
};

TEST_F(ApiRoutesTest, AHandlerThatThrowsEndsItsRequestAlone) {
  routes_.table().Add("GET", "throws", [](ApiCall) { throw std::runtime_error("out of range"); });
  routes_.open_table().Add("GET", "open", [](ApiCall) { throw std::bad_alloc(); });
  routes_.table().Add("GET", "works", [](ApiCall call) { call.respond({.code = 200}); });
  EXPECT_EQ(Get("open", ""), 500);
  EXPECT_EQ(Get("throws", "t"), 500);
  ASSERT_NE(answer_.body, nullptr);
  EXPECT_EQ(answer_.body->find("out of range"), std::string::npos);
  EXPECT_EQ(Get("works", "t"), 200);
}

TEST_F(ApiRoutesTest, OnlyAnAnswerToAGoodTokenMakesAKnownCaller) {
  routes_.table().Add("GET", "works", [](ApiCall call) { call.respond({.code = 200}); });
  routes_.open_table().Add("GET", "open", [](ApiCall call) { call.respond({.code = 200}); });
  EXPECT_EQ(Get("works", ""), 401);
  EXPECT_FALSE(answer_.known_caller);
  EXPECT_EQ(Get("open", "t"), 200);
  EXPECT_FALSE(answer_.known_caller);
  EXPECT_EQ(Get("works", "t"), 200);
  EXPECT_TRUE(answer_.known_caller);
}

}  // namespace
}  // namespace taas::dashboard
