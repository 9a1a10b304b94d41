// The pages and the poll that reads such pages, against each other on loopback.

#include "operator/controller/http_pages.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

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

// Symptom: whatever was thrown while a request was answered ended the process for everybody.
TEST_F(HttpPagesTest, APageThatThrowsIsAnsweredWith500AndTheOthersGoOn) {
  auto pages = HttpPages::Start("127.0.0.1:0", [](const std::string& path) -> HttpPage {
    if (path == "/bad") throw std::bad_alloc();
    return {.code = 200, .text = "hello"};
  });
  ASSERT_THAT(pages, IsOk());
  EXPECT_THAT(Get((*pages)->port(), "/bad"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("HTTP 500")));
  EXPECT_EQ(*Get((*pages)->port(), "/a"), "hello");
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

// Keeps what is posted until the test runs it.
class HeldExecutor : public Executor {
 public:
  void Post(Task task) override {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    posted_.notify_all();
  }
  TimerId PostAfter(Clock::Duration, Task) override { return 0; }
  bool Cancel(TimerId) override { return false; }
  const Clock& clock() const override { return clock_; }

  void RunAll(size_t count) {
    std::unique_lock lock(mutex_);
    posted_.wait(lock, [&] { return tasks_.size() == count; });
    std::vector<Task> tasks = std::exchange(tasks_, {});
    lock.unlock();
    for (Task& task : tasks) task();
  }

 private:
  RealClock clock_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::vector<Task> tasks_;
};

// Symptom: pods that answered with megabytes, many of them at once, were all held in memory.
TEST_F(HttpPagesTest, OfLongAnswersThatComeAtOnceOnlySomeAreTaken) {
  const auto make = [](const std::string& path) {
    return HttpPage{.code = 200, .text = std::string(path == "/long" ? 90'000 : 10'000, 'x')};
  };
  auto pages = HttpPages::Start("127.0.0.1:0", make);
  ASSERT_THAT(pages, IsOk());
  HeldExecutor held;
  TcpPollTransport poll(held, {.body_bytes_max = 95'000, .together_bytes_max = 100'000});
  const auto answers = [&](const std::vector<std::string>& paths) {
    int taken = 0;
    for (const std::string& path : paths) {
      poll.Get("127.0.0.1", (*pages)->port(), path, [&](absl::StatusOr<std::string> body) {
        if (body.ok()) {
          ++taken;
        } else {
          EXPECT_THAT(body.status().message(), HasSubstr("too many long answers"));
        }
      });
    }
    held.RunAll(paths.size());
    return taken;
  };
  EXPECT_EQ(answers({"/long", "/long", "/long"}), 1);
  EXPECT_EQ(answers({"/long"}), 1) << "what was read is still counted";
  EXPECT_EQ(answers({"/long", "/short", "/short", "/short"}), 4);
}

TEST_F(HttpPagesTest, AnAnswerThatIsTooLongIsNone) {
  auto pages = HttpPages::Start("127.0.0.1:0", [](const std::string&) {
    return HttpPage{.code = 200, .text = std::string(90'001, 'x')};
  });
  ASSERT_THAT(pages, IsOk());
  HeldExecutor held;
  TcpPollTransport poll(held, {.body_bytes_max = 90'000, .together_bytes_max = 1'000'000});
  absl::Status status;
  poll.Get("127.0.0.1", (*pages)->port(), "/", [&](absl::StatusOr<std::string> body) {
    status = body.status();
  });
  held.RunAll(1);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("limit")));
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
