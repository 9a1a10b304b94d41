// The pages and the poll that reads such pages, against each other on loopback.

#include "operator/controller/http_pages.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/status_matchers.h"
#include "operator/base/thread_executor.h"
#include "operator/kube/poll_transport.h"

namespace taas {
namespace {

using testing::HasSubstr;

class HttpPagesTest : public testing::Test {
 protected:
  absl::StatusOr<std::string> Get(int port, const std::string& path) {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<absl::StatusOr<std::string>> answer;
    poll_.Get("127.0.0.1", port, path, [&](absl::StatusOr<std::string> body) {
      std::lock_guard lock(mutex);
      answer = std::move(body);
      arrived.notify_one();
    });
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return answer.has_value(); });
    return *answer;
  }

  RealClock clock_;
  ThreadExecutor executor_{clock_, "test"};
  TcpPollTransport poll_{executor_};
};

TEST_F(HttpPagesTest, APageIsServedUnderItsPathAndItsCodeArrives) {
  auto pages = HttpPages::Start("127.0.0.1:0", [](const std::string& path) {
    if (path == "/a") return HttpPage{.code = 200, .text = "hello"};
    return HttpPage{};
  });
  ASSERT_THAT(pages, IsOk());
  EXPECT_EQ(*Get((*pages)->port(), "/a"), "hello");
  EXPECT_EQ(*Get((*pages)->port(), "/a?x=1"), "hello");
  EXPECT_THAT(Get((*pages)->port(), "/b"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("HTTP 404")));
}

TEST_F(HttpPagesTest, APortInUseAndABadAddressAreErrorsThatNameIt) {
  auto pages = HttpPages::Start("127.0.0.1:0", [](const std::string&) { return HttpPage{}; });
  ASSERT_THAT(pages, IsOk());
  const std::string taken = "127.0.0.1:" + std::to_string((*pages)->port());
  EXPECT_THAT(HttpPages::Start(taken, nullptr),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(taken)));
  EXPECT_THAT(HttpPages::Start("8080", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("host:port")));
  EXPECT_THAT(HttpPages::Start("127.0.0.1:99999", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65535")));
}

TEST_F(HttpPagesTest, APollOfNobodyFailsAndNamesTheAddress) {
  int port = 0;
  {
    auto pages = HttpPages::Start("127.0.0.1:0", [](const std::string&) { return HttpPage{}; });
    port = (*pages)->port();
  }
  EXPECT_THAT(Get(port, "/status"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/status")));
}

}  // namespace
}  // namespace taas
