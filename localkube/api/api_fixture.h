// An Api over a store in memory, with a clock that stands still: what the tests of REST semantics
// share.
//
// Ownership: the test's. Threads: the test's. Errors: a body that is not JSON fails the test.
//
//   class CreateTest : public ApiFixture {};
//   TEST_F(CreateTest, …) { EXPECT_EQ(Call("POST", kPods, Pod("a")).code, 201); }

#ifndef LOCALKUBE_API_API_FIXTURE_H_
#define LOCALKUBE_API_API_FIXTURE_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "localkube/api/api.h"
#include "localkube/api/fake_log_source.h"
#include "localkube/api/fake_usage_source.h"
#include "localkube/api/store.h"
#include "operator/base/fake_clock.h"
#include "operator/base/random.h"
#include "third_party/json.h"

namespace taas::localkube {

// Of the cluster's user.
inline constexpr char kToken[] = "the-token";
inline constexpr char kPods[] = "/api/v1/namespaces/default/pods";
inline constexpr char kJobs[] = "/apis/taas.dev/v1/namespaces/default/trainingjobs";

struct Reply {
  int code = 0;
  nlohmann::json body;
  std::vector<std::pair<std::string, std::string>> headers;

  std::string reason() const { return body.value("reason", ""); }
  std::string message() const { return body.value("message", ""); }
  std::string revision() const { return body["metadata"].value("resourceVersion", ""); }
};

// The events of a watch, as JSON.
class WatchLog {
 public:
  explicit WatchLog(std::unique_ptr<ApiStream> stream) : stream_(std::move(stream)) {
    stream_->Start({.data =
                        [this](std::string chunk) {
                          std::lock_guard lock(mutex_);
                          events_.push_back(nlohmann::json::parse(chunk));
                          changed_.notify_all();
                        },
                    .ended =
                        [this] {
                          std::lock_guard lock(mutex_);
                          ended_ = true;
                          changed_.notify_all();
                        }});
  }
  std::vector<nlohmann::json> WaitFor(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return events_.size() >= count; });
    return events_;
  }
  // "ADDED a", one per event.
  std::vector<std::string> Names(size_t count) {
    std::vector<std::string> names;
    for (const nlohmann::json& event : WaitFor(count)) {
      names.push_back(event["type"].get<std::string>() + " " +
                      event["object"]["metadata"].value("name", ""));
    }
    return names;
  }
  bool ended() {
    std::lock_guard lock(mutex_);
    return ended_;
  }
  ApiStream& stream() { return *stream_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<nlohmann::json> events_;
  bool ended_ = false;
  std::unique_ptr<ApiStream> stream_;  // Last: gone before what its calls use.
};

class ApiFixture : public testing::Test {
 protected:
  ApiFixture() : ApiFixture(2'048) {}
  explicit ApiFixture(size_t history_events_max)
      : store_(*Store::Open({.path = ":memory:", .history_events_max = history_events_max})),
        api_(*store_, clock_, random_, &logs_, &usage_, kToken) {
    EXPECT_TRUE(api_.Bootstrap().ok());
  }

  Reply Call(const std::string& method, const std::string& target,
             const nlohmann::json& body = nullptr, const std::string& content_type = "",
             const std::string& accept = "") {
    ApiResponse response = api_.Handle({.method = method,
                                        .target = target,
                                        .body = body.is_null() ? "" : body.dump(),
                                        .content_type = content_type,
                                        .accept = accept});
    Reply reply{response.code, nlohmann::json::parse(response.body, nullptr, false),
                response.headers};
    EXPECT_FALSE(reply.body.is_discarded()) << response.body;
    return reply;
  }

  std::unique_ptr<WatchLog> Watch(const std::string& target, const std::string& accept = "") {
    ApiResponse response =
        api_.Handle({.method = "GET", .target = target, .body = {}, .content_type = {},
                     .accept = accept});
    EXPECT_NE(response.stream, nullptr) << response.body;
    return std::make_unique<WatchLog>(std::move(response.stream));
  }

  static nlohmann::json Pod(const std::string& name) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}}},
            {"spec", {{"containers", {{{"name", "trainer"}, {"image", "i:1"}}}}}}};
  }

  FakeClock clock_;
  SeededRandom random_{1};
  FakeLogSource logs_;
  FakeUsageSource usage_;
  std::unique_ptr<Store> store_;
  Api api_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_API_FIXTURE_H_
