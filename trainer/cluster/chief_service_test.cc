#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cluster/chief_client.h"
#include "trainer/cluster/chief_server.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

class Echo : public ChiefHandler {
 public:
  wire::JoinReply Join(const wire::JoinRequest& request) override {
    wire::JoinReply reply;
    reply.set_sentence(request.config_hash());
    return reply;
  }
  wire::BeatReply Beat(const wire::BeatRequest& request) override {
    wire::BeatReply reply;
    reply.set_view(request.seen_view() + 1);
    return reply;
  }
  void Leave(const wire::LeaveRequest&) override { ++left; }
  int left = 0;
};

TEST(ChiefServiceTest, CallsReachTheHandlerAndComeBack) {
  Echo echo;
  const auto server = ChiefServer::Start("127.0.0.1", 0, echo);
  ASSERT_THAT(server, IsOk());
  ChiefClient client("127.0.0.1:" + std::to_string((*server)->port()));
  wire::JoinRequest join;
  join.set_config_hash("abc");
  const auto joined = client.Join(join);
  ASSERT_THAT(joined, IsOk());
  EXPECT_EQ(joined->sentence(), "abc");
  wire::BeatRequest beat;
  beat.set_seen_view(4);
  EXPECT_EQ(client.Beat(beat)->view(), 5u);
  EXPECT_THAT(client.Leave({}), IsOk());
  EXPECT_EQ(echo.left, 1);
}

TEST(ChiefServiceTest, PortInUseIsAnErrorAndNotShared) {
  Echo echo;
  const auto first = ChiefServer::Start("127.0.0.1", 0, echo);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(ChiefServer::Start("127.0.0.1", (*first)->port(), echo),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr(std::to_string((*first)->port()))));
}

TEST(ChiefServiceTest, ClientFindsAChiefThatStartsAgain) {
  Echo echo;
  auto server = ChiefServer::Start("127.0.0.1", 0, echo);
  ASSERT_THAT(server, IsOk());
  const int port = (*server)->port();
  ChiefClient client("127.0.0.1:" + std::to_string(port));
  ASSERT_THAT(client.Join({}), IsOk());
  server->reset();
  EXPECT_THAT(client.Join({}), StatusIs(absl::StatusCode::kUnavailable,
                                        HasSubstr("127.0.0.1:" + std::to_string(port))));
  server = ChiefServer::Start("127.0.0.1", port, echo);
  ASSERT_THAT(server, IsOk());
  absl::Status status = absl::UnavailableError("not tried");
  for (int i = 0; i < 1'000'000 && !status.ok(); ++i) status = client.Join({}).status();
  EXPECT_THAT(status, IsOk());
}

}  // namespace
}  // namespace taas
