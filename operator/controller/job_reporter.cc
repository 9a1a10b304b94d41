#include "operator/controller/job_reporter.h"

#include <algorithm>
#include <map>

#include "operator/base/log.h"
#include "operator/controller/cluster_view.h"

namespace taas {
namespace {

// Events of one job about refusals and conflicts. A server that words each refusal anew must not
// make this grow.
constexpr size_t kReportedMax = 256;
// Events of one job about what was made for it: enough for creations that come in parts.
constexpr int kCreationEventsMax = 5;
// Names in one event; more are counted.
constexpr size_t kNamesMax = 20;

// "pod: a", "pods: a, b and 3 more"
std::string Listed(const std::string& kind, const std::vector<std::string>& names) {
  std::string text = kind + (names.size() == 1 ? ": " : "s: ");
  for (size_t i = 0; i < names.size() && i < kNamesMax; ++i) text += (i > 0 ? ", " : "") + names[i];
  const size_t left = names.size() - std::min(names.size(), kNamesMax);
  if (left > 0) text += " and " + std::to_string(left) + " more";
  return text;
}

// "created 6 pods (1 chief, 2 ps, 3 worker)"
std::string Counted(const std::vector<JobReporter::PodMade>& pods) {
  std::map<Role, int> roles;
  for (const JobReporter::PodMade& pod : pods) ++roles[pod.role];
  std::string parts;
  for (const auto& [role, count] : roles) {
    parts += (parts.empty() ? "" : ", ") + std::to_string(count) + " " +
             std::string(RoleName(role));
  }
  return "created " + std::to_string(pods.size()) + (pods.size() == 1 ? " pod (" : " pods (") +
         parts + ")";
}

// What could not be done, as TFJob's users know it.
std::string FailureReason(const Step& step) {
  if (std::holds_alternative<CreatePod>(step)) return "FailedCreatePod";
  if (std::holds_alternative<CreateService>(step)) return "FailedCreateService";
  if (std::holds_alternative<CreateConfigMap>(step)) return "FailedCreateConfigMap";
  if (std::holds_alternative<DeletePod>(step)) return "FailedDeletePod";
  if (std::holds_alternative<DeleteService>(step)) return "FailedDeleteService";
  if (std::holds_alternative<CreatePodGroup>(step)) return "FailedCreatePodGroup";
  if (std::holds_alternative<DeletePodGroup>(step)) return "FailedDeletePodGroup";
  return "Refused";
}

}  // namespace

void JobReporter::Once(const Job& job, Memory& memory, const std::string& cause,
                       const std::string& reason, const std::string& message) {
  if (memory.reported.size() >= kReportedMax || !memory.reported.insert(cause).second) return;
  events_.Write(job, /*warning=*/true, reason, message);
}

void JobReporter::Conflict(const Job& job, Memory& memory, const ReportConflict& conflict) {
  const std::string text = "a " + conflict.kind + " " + conflict.name +
                           " exists that does not belong to this job (owner uid " +
                           (conflict.owner_uid.empty() ? "none" : conflict.owner_uid) + ")";
  Log(LogLevel::kDebug, text, {{"job", ClusterView::KeyOf(job)}});
  Once(job, memory, conflict.kind + "/" + conflict.name, "NameConflict", text);
}

void JobReporter::Refused(const Job& job, Memory& memory, const Step& step,
                          const WriteResult& result) {
  const bool tf = job.kind == JobKind::kTfJob;
  memory.recurring.Repeats("Refused/" + std::to_string(step.index()) + "/" + result.reason,
                           tf ? FailureReason(step) : "Refused", result.message, clock_.Now(),
                           clock_.WallNow());
  TellRecurring(job, memory);
}

void JobReporter::TellRecurring(const Job& job, Memory& memory) {
  for (const RecurringEvents::Due& due : memory.recurring.Take(clock_.Now())) {
    Log(LogLevel::kWarning, due.message,
        {{"job", ClusterView::KeyOf(job)}, {"reason", due.reason}});
    events_.Write(job, /*warning=*/true, due.reason, due.message,
                  {.times = due.times, .since = due.since});
  }
}

std::optional<Clock::Duration> JobReporter::Hindered(const Job& job, Memory& memory,
                                                     const std::vector<Hindrance>& hindrances) {
  memory.recurring.Stand(hindrances, clock_.WallNow());
  TellRecurring(job, memory);
  return memory.recurring.NextAfter(clock_.Now());
}

void JobReporter::Changed(const Job& job, Memory& memory, const Changes& changes) {
  Made(job, memory, changes);
  if (job.kind != JobKind::kTfJob || changes.pods_deleted.empty()) return;
  events_.Write(job, false, "SuccessfulDeletePod",
                "Deleted " + Listed("pod", changes.pods_deleted));
}

void JobReporter::Made(const Job& job, Memory& memory, const Changes& changes) {
  std::vector<PodMade> first;  // What follows a pod was told with the pod's end.
  std::vector<std::string> names;
  for (const PodMade& pod : changes.pods_made) {
    if (pod.pod_number > 1) continue;
    first.push_back(pod);
    names.push_back(pod.name);
  }
  const auto tell = [&](const std::string& reason, const std::string& message) {
    if (memory.creations++ < kCreationEventsMax) events_.Write(job, false, reason, message);
  };
  if (job.kind != JobKind::kTfJob) {
    if (!first.empty()) tell("PodsCreated", Counted(first));
    return;
  }
  if (!first.empty()) tell("SuccessfulCreatePod", "Created " + Listed("pod", names));
  if (!changes.services_made.empty()) {
    tell("SuccessfulCreateService", "Created " + Listed("service", changes.services_made));
  }
}

void JobReporter::Noted(const Job& job, Memory& memory, const std::vector<LedgerNote>& notes) {
  for (const LedgerNote& note : notes) {
    if (note.recurs) {
      memory.recurring.Happens(note.reason, note.reason, note.message, clock_.WallNow());
      continue;
    }
    Log(note.warning ? LogLevel::kWarning : LogLevel::kInfo, note.message,
        {{"job", ClusterView::KeyOf(job)}, {"reason", note.reason}});
    events_.Write(job, note.warning, note.reason, note.message);
  }
  TellRecurring(job, memory);
}

}  // namespace taas
