#include "dashboard/logs/log_tail.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LogTailTest : public testing::Test {
 protected:
  static LogPod Pod(const std::string& name, LogPod::State state = LogPod::State::kEnded) {
    return {.uid = name, .ns = "ns", .name = name, .replica = name, .container = "trainer",
            .state = state};
  }
  void Read(const std::vector<LogPod>& pods, const LogTailOptions& options = {}) {
    ReadLogTails(transport_, executor_, pods, options,
                 [this](std::vector<LogTail> tails) { tails_ = std::move(tails); });
    Run();
  }
  void Run() { executor_.RunUntil(executor_.clock().Now()); }
  void Reply(absl::StatusOr<HttpReply> reply) {
    transport_.Reply(std::move(reply));
    Run();
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  std::optional<std::vector<LogTail>> tails_;
};

TEST_F(LogTailTest, EachPodThatHasStartedIsReadOnceAFewAtATime) {
  Read({Pod("a"), Pod("b"), Pod("waits", LogPod::State::kWaiting), Pod("c")},
       {.lines = 2, .bytes = 5'000, .at_once = 2});
  EXPECT_EQ(transport_.waiting(), 2u);
  EXPECT_THAT(transport_.request().path,
              AllOf(HasSubstr("/pods/a/log"), HasSubstr("container=trainer"),
                    HasSubstr("tailLines=2"), HasSubstr("limitBytes=5000")));
  Reply(HttpReply{.code = 200, .body = "2026-11-21T05:54:17Z x\n2026-11-21T05:54:18Z y\n"});
  Reply(HttpReply{.code = 403, .body = R"({"kind":"Status","reason":"F","message":"may not"})"});
  EXPECT_FALSE(tails_.has_value());
  Reply(absl::UnavailableError("lost"));
  ASSERT_TRUE(tails_.has_value());
  ASSERT_EQ(tails_->size(), 3u);
  const LogTail& a = (*tails_)[0];
  ASSERT_EQ(a.lines.size(), 2u);
  EXPECT_EQ(a.lines[1].text, "y");
  EXPECT_TRUE(a.truncated);  // There may be more before.
  EXPECT_THAT((*tails_)[1].error, HasSubstr("may not"));
  EXPECT_THAT((*tails_)[2].error, AllOf(HasSubstr("pod ns/c"), HasSubstr("lost")));
}

TEST_F(LogTailTest, AShortLogIsWhole) {
  Read({Pod("a")});
  Reply(HttpReply{.code = 200, .body = "2026-11-21T05:54:17Z x"});
  ASSERT_EQ(tails_->size(), 1u);
  EXPECT_EQ((*tails_)[0].lines.size(), 1u);
  EXPECT_FALSE((*tails_)[0].truncated);
}

// A limit of bytes keeps the beginning of a tail, and the message of an exception is its end.
TEST_F(LogTailTest, OfATailThatIsTooLargeFewerLinesAreAskedForUntilItsEndFits) {
  Read({Pod("a")}, {.lines = 8, .bytes = 5'000});
  for (const char* lines : {"tailLines=8", "tailLines=4"}) {
    EXPECT_THAT(transport_.request().path, HasSubstr(lines));
    Reply(HttpReply{.code = 200, .body = std::string(5'000, 'x')});
  }
  EXPECT_THAT(transport_.request().path, HasSubstr("tailLines=2"));
  Reply(HttpReply{.code = 200, .body = "2026-11-21T05:54:17Z x\n2026-11-21T05:54:18Z the end\n"});
  EXPECT_EQ((*tails_)[0].lines.back().text, "the end");
  EXPECT_TRUE((*tails_)[0].truncated);
}

TEST_F(LogTailTest, OneLineThatIsTooLargeIsCut) {
  Read({Pod("a")}, {.lines = 1, .bytes = 5'000});
  Reply(HttpReply{.code = 200, .body = "2026-11-21T05:54:17Z " + std::string(4'979, 'x')});
  ASSERT_EQ((*tails_)[0].lines.size(), 1u);
}

TEST_F(LogTailTest, WithoutPodsTheAnswerComesToo) {
  Read({});
  EXPECT_TRUE(tails_.has_value());
}

}  // namespace
}  // namespace taas::dashboard
