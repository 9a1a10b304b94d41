// The curves of a training, from the replica that keeps them: the chief's /series, or worker 0's
// where there is no chief, and the evaluator's.
//
// The other end is a program of the user's: what it answers is looked at, and what is no curve is
// left out. An answer serves everybody who asks within kLately.
//
// Ownership: transport and executor outlive it. Threads: the executor's only; `done` may be called
// inside the call. Errors: none; an answer without curves says why.
//
//   series.Fetch(*job, pods, [](const SeriesReply& reply) { … });

#ifndef DASHBOARD_TRAINING_SERIES_SOURCE_H_
#define DASHBOARD_TRAINING_SERIES_SOURCE_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/server/watched.h"
#include "operator/base/executor.h"
#include "operator/kube/poll_transport.h"

namespace taas::dashboard {

struct SeriesReply {
  std::string text;    // A SeriesAnswer of dashboard/web, in JSON.
  bool live = false;   // Somebody who keeps the curves of the training has answered.
};

class SeriesSource {
 public:
  // Trainers take a point every some seconds; twenty tabs on one job are one question.
  static constexpr std::chrono::seconds kLately{1};
  // Of jobs whose last answer is kept; one is 120 KB at most.
  static constexpr size_t kAnswersMax = 50;

  using Pods = std::vector<std::shared_ptr<const WatchedPod>>;
  using Done = std::function<void(const SeriesReply& reply)>;

  SeriesSource(PollTransport& transport, Executor& executor);
  ~SeriesSource();

  void Fetch(const WatchedJob& job, const Pods& pods, Done done);

 private:
  struct Answer {
    SeriesReply reply;
    Clock::Time at{};
    bool asking = false;
    std::vector<Done> waiting;
  };
  struct Round;

  void Ask(const std::string& uid, const WatchedJob& job, const Pods& pods);
  void OnAll(const std::string& uid, const Round& round);
  void MakeRoom();

  PollTransport& transport_;
  Executor& executor_;
  std::map<std::string, Answer> answers_;  // By uid of the job.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// The curves of a /series page, without what is none. InvalidArgument: it is no such page.
absl::StatusOr<nlohmann::json> ReadSeriesPage(std::string_view body);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_SERIES_SOURCE_H_
