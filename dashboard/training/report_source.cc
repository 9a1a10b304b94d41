#include "dashboard/training/report_source.h"

#include <utility>

#include "dashboard/server/job_view.h"
#include "dashboard/training/answering_replicas.h"

namespace taas::dashboard {

void ReportSource::Fetch(const WatchedJob& job, const Pods& pods, Done done) {
  MakeRoom();
  const std::string uid = job.meta.uid;
  Answer& answer = answers_[uid];
  const bool fresh = executor_.clock().Now() - answer.at < kLately;
  if (answer.reply.has_value() && fresh && !answer.asking) return done(*answer.reply);
  answer.waiting.push_back(std::move(done));
  if (std::exchange(answer.asking, true)) return;
  const AnsweringReplicas replicas = FindAnsweringReplicas(job, pods);
  if (replicas.main == nullptr) {
    return OnAnswer(uid, "", absl::NotFoundError("no replica that tells of the training runs now"));
  }
  transport_.Get(replicas.main->ip, replicas.main->status_port, "/status",
                 [this, uid, source = ReplicaName(job, *replicas.main),
                  alive = std::weak_ptr<bool>(alive_)](const absl::StatusOr<std::string>& body) {
                   if (alive.lock() != nullptr) OnAnswer(uid, source, body);
                 });
}

void ReportSource::OnAnswer(const std::string& uid, const std::string& source,
                            const absl::StatusOr<std::string>& body) {
  ReportReply reply{.source = source, .report = {}, .message = ""};
  if (body.ok()) {
    reply.report = ParseTrainerReport(*body);
    // On loopback a port may have changed hands.
    const bool others = reply.report.has_value() && !reply.report->uid.empty() &&
                        reply.report->uid != uid;
    if (others) reply.report.reset();
    if (!reply.report.has_value()) reply.message = source + " serves no /status of this job";
  } else {
    const std::string why(body.status().message());
    reply.message = source.empty() ? why : source + " does not answer: " + why;
  }
  Answer& answer = answers_[uid];
  answer.reply = reply;
  answer.at = executor_.clock().Now();
  answer.asking = false;
  for (const Done& done : std::exchange(answer.waiting, {})) done(reply);
}

void ReportSource::MakeRoom() {
  if (answers_.size() < kAnswersMax) return;
  const Clock::Time now = executor_.clock().Now();
  std::erase_if(answers_, [now](const auto& entry) {
    return !entry.second.asking && now - entry.second.at >= kLately;
  });
}

}  // namespace taas::dashboard
