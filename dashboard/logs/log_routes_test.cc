#include "dashboard/logs/log_routes.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dashboard/logs/fake_logs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kJob[] =
    R"({"metadata":{"namespace":"ns","name":"j","uid":"uj","resourceVersion":"3"},)"
    R"("spec":{"roles":{"worker":{"replicas":1}}},"status":{"state":"Running"}})";
constexpr char kPod[] =
    R"({"metadata":{"namespace":"ns","name":"j-worker-0","uid":"up","resourceVersion":"4",)"
    R"("labels":{"taas.dev/job-name":"j","taas.dev/index":"0","taas.dev/role":"worker"}},)"
    R"("spec":{"containers":[{"name":"sidecar"},{"name":"trainer"}]},)"
    R"("status":{"phase":"Running"}})";

class LogRoutesTest : public testing::Test {
 protected:
  explicit LogRoutesTest(std::string pod = kPod) : pod_(std::move(pod)) {
    board_.Start();
    AnswerAll();
    Run(200ms);
    routes_.AddTo(&table_);
  }

  // Everything that the board and the reviews ask.
  void AnswerAll() {
    while (own_.waiting() > 0) {
      const HttpRequest& request = own_.request();
      std::string items;
      if (request.path.find("/trainingjobs") != std::string::npos) items = kJob;
      if (request.path.find("/pods") != std::string::npos) items = pod_;
      const bool review = request.verb == Verb::kPost;
      const bool logs = request.body.find("\"log\"") != std::string::npos;
      const bool allowed = logs ? may_read_logs_ : may_see_;
      own_.Reply(HttpReply{
          .code = review ? 201 : 200,
          .body = review ? std::string(R"({"status":{"allowed":)") + (allowed ? "true" : "false") +
                               R"(,"authenticated":false,"error":"expired"}})"
                         : R"({"metadata":{"resourceVersion":"10"},"items":[)" + items + "]}"});
      Run();
    }
  }
  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }

  WebResponse Get(std::vector<std::pair<std::string, std::string>> query,
                  const std::string& who = "ada", const std::string& job = "j") {
    std::optional<WebResponse> response;
    ApiCall call{.request = {.method = "GET",
                             .segments = {"api", "jobs", "ns", "trainingjobs", job, "logs"},
                             .query = std::move(query)},
                 .respond = [&](WebResponse answer) { response = std::move(answer); },
                 .identity = std::make_shared<Identity>(Identity{.user = who, .key = who}),
                 .token = "token-of-" + who};
    const auto found = table_.Find("GET", call.request.segments);
    (*found.handler)(std::move(call));
    Run();
    AnswerAll();
    Run();
    EXPECT_TRUE(response.has_value());
    return *std::move(response);
  }
  std::shared_ptr<FakeSink> Read(const WebResponse& response) {
    auto sink = std::make_shared<FakeSink>();
    response.stream.opened(sink);
    Run(1s);
    return sink;
  }

  const std::string pod_;
  SimExecutor executor_{{.in_order = true}};
  FakeTransport own_{executor_};
  FakeLogs logs_{executor_};
  SeededRandom random_{1};
  Authenticator authenticator_{own_, executor_};
  Access access_{own_, executor_};
  Board board_{own_, executor_, random_, {}};
  LogRoutes routes_{{.executor = executor_,
                     .board = board_,
                     .authenticator = authenticator_,
                     .access = access_,
                     .callers = logs_}};
  RouteTable table_;
  bool may_see_ = true, may_read_logs_ = true;
};

TEST_F(LogRoutesTest, TheLogsComeAsAStreamWithTheCallersToken) {
  logs_.Write("j-worker-0", "2026-11-21T05:54:17.1Z step 1");
  const WebResponse response = Get({{"tail", "10"}});
  EXPECT_EQ(response.code, 200);
  EXPECT_THAT(response.content_type, HasSubstr("application/x-ndjson"));
  const auto sink = Read(response);
  EXPECT_EQ(sink->text,
            "{\"r\":\"worker-0\",\"note\":\"begin\",\"podNumber\":0}\n"
            "{\"t\":\"2026-11-21T05:54:17.1Z\",\"r\":\"worker-0\",\"l\":\"step 1\"}\n");
  EXPECT_TRUE(sink->ended);
  ASSERT_EQ(logs_.requests().size(), 1u);
  EXPECT_EQ(logs_.requests()[0].bearer_token, "token-of-ada");
  EXPECT_THAT(logs_.requests()[0].path,
              AllOf(HasSubstr("container=trainer"), HasSubstr("tailLines=10")));
  response.stream.closed();
  Run();
  EXPECT_EQ(routes_.streams(), 0u);
}

constexpr char kInitPod[] =
    R"({"metadata":{"namespace":"ns","name":"j-worker-0","uid":"up","resourceVersion":"4",)"
    R"("labels":{"taas.dev/job-name":"j","taas.dev/index":"0","taas.dev/role":"worker"}},)"
    R"("spec":{"initContainers":[{"name":"fetch"}],"containers":[{"name":"trainer"}]},)"
    R"("status":{"phase":"Pending","initContainerStatuses":[{"name":"fetch","restartCount":2,)"
    R"("state":{"waiting":{"reason":"CrashLoopBackOff"}},)"
    R"("lastState":{"terminated":{"exitCode":4}}}]}})";

class InitLogTest : public LogRoutesTest {
 protected:
  InitLogTest() : LogRoutesTest(kInitPod) {}
};

// Symptom: of a pod whose init container crashed again and again the page of logs said that it had
// not started.
TEST_F(InitLogTest, OfAnInitContainerThatFailsItsLogIsShown) {
  logs_.Write("j-worker-0", "2026-11-21T05:54:17.1Z bucket gs://x not found");
  const auto sink = Read(Get({{"tail", "10"}}));
  EXPECT_THAT(sink->text, HasSubstr("bucket gs://x not found"));
  ASSERT_EQ(logs_.requests().size(), 1u);
  EXPECT_THAT(logs_.requests()[0].path, HasSubstr("container=fetch"));
}

TEST_F(LogRoutesTest, WithoutATailTheLastThousandLinesCome) {
  Read(Get({{"follow", "true"}}));
  EXPECT_THAT(logs_.requests()[0].path, HasSubstr("tailLines=1000"));
}

TEST_F(LogRoutesTest, ADownloadIsAFileWithASafeName) {
  const WebResponse response = Get({{"download", "1"}, {"follow", "true"}, {"tail", "5"}});
  EXPECT_THAT(response.content_type, HasSubstr("text/plain"));
  EXPECT_THAT(response.headers,
              Contains(Pair("Content-Disposition", "attachment; filename=\"ns_j_logs.txt\"")));
  EXPECT_TRUE(Read(response)->ended);
  EXPECT_THAT(logs_.requests()[0].path, ::testing::Not(HasSubstr("tailLines")));
}

TEST_F(LogRoutesTest, WhoMayNotReadLogsHearsSoAndWhoSeesNoJobHearsOfNone) {
  may_read_logs_ = false;
  const WebResponse refused = Get({}, "eve");
  EXPECT_EQ(refused.code, 403);
  EXPECT_THAT(*refused.body, HasSubstr("you may not get pods/log in namespace ns"));
  EXPECT_EQ(Get({}, "eve", "other").code, 404);
  may_see_ = false;
  EXPECT_EQ(Get({}, "mallory").code, 404);
  EXPECT_EQ(routes_.streams(), 0u);
}

TEST_F(LogRoutesTest, AQueryThatMakesNoSenseIsRefused) {
  for (const char* tail : {"-1", "x", "1x", "99999999999999999999"}) {
    EXPECT_EQ(Get({{"tail", tail}}).code, 400) << tail;
  }
  EXPECT_EQ(Get({{"since", "yesterday"}}).code, 400);
  EXPECT_EQ(Get({{"since", "2026-11-21T05:54:17Z"}, {"tail", "0"}}).code, 200);
}

TEST_F(LogRoutesTest, OneCallerCannotUseUpAllStreams) {
  for (size_t i = 0; i < LogRoutes::kStreamsOfOneMax; ++i) {
    EXPECT_EQ(Get({{"follow", "true"}}).code, 200);
  }
  EXPECT_EQ(Get({}).code, 429);
  EXPECT_EQ(Get({}, "bob").code, 200);
}

// Symptom: eight slow followers of a long log took 500 MB, and 64 could take 1.5 GB.
TEST_F(LogRoutesTest, TheMoreLogsAreReadTheLessIsKeptOfEach) {
  EXPECT_EQ(routes_.WindowsBytes(), LogStream::kWindowsBytes);
  size_t all = 0;
  std::vector<WebResponse> open;
  for (int i = 0; i < 64; ++i) {
    all += routes_.WindowsBytes();
    open.push_back(Get({{"follow", "true"}}, "caller-" + std::to_string(i / 8)));
    ASSERT_EQ(open.back().code, 200);
  }
  EXPECT_LE(all, size_t{160} << 20);
  EXPECT_EQ(routes_.WindowsBytes(), LogRoutes::kLeastWindowsBytes);
  for (const WebResponse& response : open) response.stream.closed();
  Run();
  EXPECT_EQ(routes_.WindowsBytes(), LogStream::kWindowsBytes);
}

TEST_F(LogRoutesTest, APodThatStartsLaterJoinsAndTheEndOfTheServerEndsTheStream) {
  const auto sink = Read(Get({{"follow", "true"}}));
  std::string pod = kPod;
  pod.replace(pod.find("j-worker-0"), 10, "j-worker-1");
  pod.replace(pod.find("\"up\""), 4, "\"u2\"");
  pod.replace(pod.find(R"("taas.dev/index":"0")"), 20, R"("taas.dev/index":"1")");
  pod.replace(pod.find(R"("resourceVersion":"4")"), 21, R"("resourceVersion":"14")");
  logs_.Write("j-worker-1", "2026-11-21T05:54:17.1Z hello");
  auto& watch = own_.FindStream("/pods?");
  watch.Open(200);
  watch.Send(R"({"type":"ADDED","object":)" + pod + "}\n");
  Run(1s);
  EXPECT_THAT(sink->text, HasSubstr(R"("r":"worker-1","l":"hello")"));
  EXPECT_FALSE(sink->ended);
  routes_.Stop();
  EXPECT_TRUE(sink->ended);
}

TEST_F(LogRoutesTest, ATokenThatIsNoLongerGoodEndsItsStreams) {
  const auto sink = Read(Get({{"follow", "true"}}));
  Run(LogRoutes::kRecheck);
  AnswerAll();  // The review says that it is not authenticated.
  Run();
  EXPECT_TRUE(sink->ended);
  EXPECT_THAT(sink->text, HasSubstr(R"("note":"error")"));
}

}  // namespace
}  // namespace taas::dashboard
