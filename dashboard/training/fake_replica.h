// A replica's pod that runs and answers at an address, and trainers that a test plays.
//
// Ownership: values. Threads: one. Errors: an answer to what nobody has asked fails the test.
//
//   pods.push_back(RunningReplica(Role::kChief, "10.0.0.1"));
//   … trainers.asked.front().first …   // "10.0.0.1:2223/status"
//   trainers.Answer(R"({"role": "chief"})");

#ifndef DASHBOARD_TRAINING_FAKE_REPLICA_H_
#define DASHBOARD_TRAINING_FAKE_REPLICA_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "dashboard/server/watched.h"
#include "gtest/gtest.h"
#include "operator/kube/poll_transport.h"

namespace taas::dashboard {

inline std::shared_ptr<WatchedPod> RunningReplica(Role role, const std::string& ip) {
  auto pod = std::make_shared<WatchedPod>();
  pod->role = role;
  pod->index = 0;
  pod->ip = ip;
  pod->phase = PodPhase::kRunning;
  pod->status_port = 2223;
  return pod;
}

class FakeTrainers : public PollTransport {
 public:
  void Get(const std::string& host, int32_t port, const std::string& path, Done done) override {
    asked.emplace_back(host + ":" + std::to_string(port) + path, std::move(done));
  }
  // The oldest question.
  void Answer(absl::StatusOr<std::string> body) {
    ASSERT_FALSE(asked.empty());
    auto [what, done] = std::move(asked.front());
    asked.pop_front();
    done(std::move(body));
  }

  std::deque<std::pair<std::string, Done>> asked;  // The newest last.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_FAKE_REPLICA_H_
