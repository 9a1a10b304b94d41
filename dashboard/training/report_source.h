// What the trainer of a job says of itself, while somebody looks: the chief's /status, or worker
// 0's where there is no chief.
//
// The other end is a program of the user's: what it answers is checked (trainer_report.h). An
// answer serves everybody who asks within kLately.
//
// Ownership: transport and executor outlive it. Threads: the executor's only; `done` may be called
// inside the call. Errors: none; a reply without a report says why.
//
//   reports.Fetch(*job, pods, [](const ReportReply& reply) { … });

#ifndef DASHBOARD_TRAINING_REPORT_SOURCE_H_
#define DASHBOARD_TRAINING_REPORT_SOURCE_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/server/watched.h"
#include "operator/base/executor.h"
#include "operator/kube/poll_transport.h"
#include "operator/plan/trainer_report.h"

namespace taas::dashboard {

struct ReportReply {
  std::string source;  // Who was asked: "chief-0"; empty: nobody runs.
  std::optional<TrainerReport> report;
  std::string message;  // Why there is none.
};

class ReportSource {
 public:
  // Trainers count over a second; twenty tabs on one job are one question.
  static constexpr std::chrono::seconds kLately{1};
  // Of jobs whose last answer is kept; one of a thousand ranks is 100 KB.
  static constexpr size_t kAnswersMax = 50;

  using Pods = std::vector<std::shared_ptr<const WatchedPod>>;
  using Done = std::function<void(const ReportReply& reply)>;

  ReportSource(PollTransport& transport, Executor& executor)
      : transport_(transport), executor_(executor) {}

  void Fetch(const WatchedJob& job, const Pods& pods, Done done);

 private:
  struct Answer {
    std::optional<ReportReply> reply;
    Clock::Time at{};
    bool asking = false;
    std::vector<Done> waiting;
  };

  void OnAnswer(const std::string& uid, const std::string& source,
                const absl::StatusOr<std::string>& body);
  void MakeRoom();

  PollTransport& transport_;
  Executor& executor_;
  std::map<std::string, Answer> answers_;  // By uid of the job.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_REPORT_SOURCE_H_
