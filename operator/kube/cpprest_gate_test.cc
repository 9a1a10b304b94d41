// Writes through a gate, on real connections.

#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"
#include "operator/base/thread_executor.h"
#include "operator/kube/cpprest_transport.h"
#include "operator/kube/test_server.h"
#include "operator/kube/write_gate.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Request = TestServer::Request;
using Connection = TestServer::Connection;

// Longer than any of these tests takes when it passes.
constexpr auto kPatience = 20s;

// Stands still for some looks at it and then is an hour on: a process that froze between two looks.
class FreezingClock : public FakeClock {
 public:
  Time Now() const override {
    if (looks_left_ > 0 && --looks_left_ == 0) AdvanceTo(FakeClock::Now() + 3600s);
    return FakeClock::Now();
  }
  void FreezeAfter(int looks) { looks_left_ = looks + 1; }

 private:
  mutable std::atomic<int> looks_left_ = 0;
};

class CpprestGateTest : public testing::Test {
 protected:
  ~CpprestGateTest() override {
    executor_.Stop();
    transport_.reset();
  }

  void Serve(TestServer::Handler handler) {
    server_ = std::make_unique<TestServer>(std::move(handler));
    auto transport = CpprestTransport::Create({.server = server_->url(), .source = "the test"},
                                              files_, executor_, {.gate = &gate_});
    ASSERT_THAT(transport, IsOk());
    transport_ = *std::move(transport);
  }
  std::future<absl::StatusOr<HttpReply>> Begin(HttpRequest request) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<HttpReply>>>();
    transport_->Do(std::move(request), [promise](absl::StatusOr<HttpReply> reply) {
      promise->set_value(std::move(reply));
    });
    return promise->get_future();
  }
  static absl::StatusOr<HttpReply> End(std::future<absl::StatusOr<HttpReply>> reply) {
    if (reply.wait_for(kPatience) != std::future_status::ready) std::abort();
    return reply.get();
  }
  static HttpRequest Post(std::string body = "{}") {
    return {.verb = Verb::kPost, .path = "/pods", .body = std::move(body), .timeout = kPatience};
  }
  std::vector<std::string> Bodies() {
    std::vector<std::string> bodies;
    for (const Request& request : server_->requests()) {
      bodies.push_back(request.method + " " + request.body);
    }
    return bodies;
  }

  PosixFileSystem files_;
  RealClock real_clock_;
  ThreadExecutor executor_{real_clock_, "test"};
  FreezingClock gate_clock_;
  WriteGate gate_{gate_clock_};
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<CpprestTransport> transport_;
};

TEST_F(CpprestGateTest, AShutGateLetsReadsPassAndNoWrite) {
  Serve([](const Request&, Connection& to) { return to.Reply(200, "{}"); });
  for (const Verb verb : {Verb::kPost, Verb::kPut, Verb::kPatch, Verb::kDelete}) {
    const auto reply = End(Begin({.verb = verb, .path = "/pods/a", .body = "{}"}));
    EXPECT_THAT(reply, StatusIs(absl::StatusCode::kAborted, HasSubstr("/pods/a")));
  }
  EXPECT_THAT(End(Begin({.path = "/pods"})), IsOk());
  EXPECT_THAT(Bodies(), ElementsAre("GET "));
}

// Symptom without the second question: a process that stood still while its connection was made
// sent its write when another was leading for long.
TEST_F(CpprestGateTest, AWriteThatPassedAndWhoseTimeIsOverBeforeItsBodyLeavesDoesNotArrive) {
  Serve([](const Request&, Connection& to) { return to.Reply(201, "{}"); });
  gate_.OpenUntil(gate_clock_.Now() + 10s);
  gate_clock_.FreezeAfter(1);
  EXPECT_THAT(End(Begin(Post("late"))),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("not renewed in time")));
  EXPECT_EQ(gate_.under_way(), 0);

  // What stands half written on a connection must not become a part of the next request.
  gate_.OpenUntil(gate_clock_.Now() + 10s);
  EXPECT_THAT(End(Begin(Post("next"))), IsOk());
  EXPECT_THAT(Bodies(), ElementsAre("POST next"));
}

TEST_F(CpprestGateTest, TheSameHoldsOnAConnectionThatWasUsedBefore) {
  Serve([](const Request&, Connection& to) { return to.Reply(201, "{}"); });
  gate_.OpenUntil(gate_clock_.Now() + 10s);
  EXPECT_THAT(End(Begin(Post("first"))), IsOk());
  gate_clock_.FreezeAfter(1);
  EXPECT_THAT(End(Begin(Post("late"))), StatusIs(absl::StatusCode::kAborted));
  gate_.OpenUntil(gate_clock_.Now() + 10s);
  EXPECT_THAT(End(Begin(Post("next"))), IsOk());
  EXPECT_THAT(Bodies(), ElementsAre("POST first", "POST next"));
}

TEST_F(CpprestGateTest, AWriteIsUnderWayUntilItsReplyHasCome) {
  std::promise<void> arrived, answer;
  auto may_answer = answer.get_future().share();
  Serve([&arrived, may_answer](const Request&, Connection& to) {
    arrived.set_value();
    may_answer.wait();
    return to.Reply(201, "{}");
  });
  gate_.OpenUntil(gate_clock_.Now() + 10s);
  auto reply = Begin(Post());
  EXPECT_EQ(gate_.under_way(), 1);
  if (arrived.get_future().wait_for(kPatience) != std::future_status::ready) std::abort();
  gate_.Shut();
  answer.set_value();
  EXPECT_THAT(End(std::move(reply)), IsOk()) << "what has left is not called back";
  EXPECT_EQ(gate_.under_way(), 0);
}

TEST_F(CpprestGateTest, WritesUnderWayAreNoMoreWhenTheTransportIsGone) {
  Serve([](const Request&, Connection& to) { return to.WaitForClose(); });
  gate_.OpenUntil(gate_clock_.Now() + 10s);
  auto reply = Begin(Post());
  EXPECT_EQ(gate_.under_way(), 1);
  executor_.Stop();
  transport_.reset();
  EXPECT_EQ(gate_.under_way(), 0);
}

}  // namespace
}  // namespace taas
