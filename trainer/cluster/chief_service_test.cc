#include <atomic>
#include <chrono>
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cluster/chief_client.h"
#include "trainer/cluster/chief_server.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
  std::atomic<int> left = 0;  // Read on another thread than gRPC's.
};

// A call has a second. One that a busy machine gives less than that is made again, as members do.
constexpr int kTries = 1'000;

bool IsLate(const absl::Status& status) {
  return absl::StrContains(status.message(), "no answer in time");
}

template <typename Call>
auto InTime(Call call) {
  auto result = call();
  for (int i = 0; i < kTries && IsLate(result.status()); ++i) result = call();
  return result;
}

// Of a leave, which is taken once.
constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(1);

TEST(ChiefServiceTest, CallsReachTheHandlerAndComeBack) {
  Echo echo;
  const auto server = ChiefServer::Start("127.0.0.1", 0, echo);
  ASSERT_THAT(server, IsOk());
  ChiefClient client("127.0.0.1:" + std::to_string((*server)->port()));
  wire::JoinRequest join;
  join.set_config_hash("abc");
  const auto joined = InTime([&] { return client.Join(join); });
  ASSERT_THAT(joined, IsOk());
  EXPECT_EQ(joined->sentence(), "abc");
  wire::BeatRequest beat;
  beat.set_seen_view(4);
  const auto beaten = InTime([&] { return client.Beat(beat); });
  ASSERT_THAT(beaten, IsOk());
  EXPECT_EQ(beaten->view(), 5u);
  EXPECT_THAT(client.Leave({}, kPatience), IsOk());
  EXPECT_EQ(echo.left, 1);
}

// Symptom: whoever reached the port and knew the job's uid, which is no secret, could join, take
// batches and send others away.
TEST(ChiefServiceTest, CallsWithoutTheJobsTokenDoNotReachTheHandler) {
  Echo echo;
  const auto server = ChiefServer::Start("127.0.0.1", 0, echo, "secret");
  ASSERT_THAT(server, IsOk());
  const std::string address = "127.0.0.1:" + std::to_string((*server)->port());
  for (const char* token : {"", "secreT", "secrets"}) {
    ChiefClient stranger(address, token);
    const auto refused =
        StatusIs(absl::StatusCode::kUnavailable,
                 AllOf(HasSubstr("does not have the token"), Not(HasSubstr("secret"))));
    EXPECT_THAT(InTime([&] { return stranger.Join({}); }).status(), refused);
    EXPECT_THAT(InTime([&] { return stranger.Beat({}); }).status(), refused);
    EXPECT_THAT(stranger.Leave({}, kPatience), refused);
  }
  EXPECT_EQ(echo.left, 0);
  ChiefClient member(address, "secret");
  EXPECT_THAT(InTime([&] { return member.Join({}); }), IsOk());
  EXPECT_THAT(InTime([&] { return member.Beat({}); }), IsOk());
  EXPECT_THAT(member.Leave({}, kPatience), IsOk());
  EXPECT_EQ(echo.left, 1);
}

TEST(ChiefServiceTest, AChiefWithoutATokenServesThoseWhoHaveOne) {
  Echo echo;
  const auto server = ChiefServer::Start("127.0.0.1", 0, echo);
  ASSERT_THAT(server, IsOk());
  ChiefClient client("127.0.0.1:" + std::to_string((*server)->port()), "secret");
  EXPECT_THAT(InTime([&] { return client.Join({}); }), IsOk());
}

TEST(ChiefServiceTest, CallThatIsLargerThanAnyIsRefused) {
  Echo echo;
  const auto server = ChiefServer::Start("127.0.0.1", 0, echo);
  ASSERT_THAT(server, IsOk());
  ChiefClient client("127.0.0.1:" + std::to_string((*server)->port()));
  wire::BeatRequest beat;
  beat.mutable_report()->set_message(std::string(1 << 20, 'm'));
  EXPECT_THAT(client.Beat(beat), StatusIs(absl::StatusCode::kUnavailable));
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
  ASSERT_THAT(InTime([&] { return client.Join({}); }), IsOk());
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
