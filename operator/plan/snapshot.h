// All that the planner may look at when it plans one job: one consistent view, without I/O and
// clock.
//
// Ownership: value type. Threads: const access from any thread. Errors: none.
//
//   Snapshot now{.job = job, .pods = pods, .now = clock.WallNow()};
//   const Plan plan = PlanJob(now);

#ifndef OPERATOR_PLAN_SNAPSHOT_H_
#define OPERATOR_PLAN_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/job.h"
#include "operator/api/pod.h"
#include "operator/plan/address_scheme.h"
#include "operator/plan/gang_scheduler.h"
#include "operator/plan/template_words.h"
#include "operator/plan/trainer_report.h"

namespace taas {

struct ServiceView {
  std::string uid;
  std::string owner_uid;   // Of the controlling owner reference; empty: nobody's.
  std::string owner_kind;  // Of the same: "TrainingJob", "TFJob".
  std::string job;         // Label taas.dev/job-name.
  bool terminating = false;
};

// Of the gang scheduler that the operator works with.
struct PodGroupView {
  std::string uid;
  std::string resource_version;
  std::string owner_uid;   // Of the controlling owner reference; empty: nobody's.
  std::string owner_kind;  // Of the same: "TrainingJob", "TFJob".
  std::string job;         // Label taas.dev/job-name.
  bool terminating = false;
  int32_t min_member = 0;
  std::string spec;     // As the operator wrote it last, in an annotation.
  std::string phase;    // Volcano's: Pending, Inqueue, Running, …; empty: it has not looked yet.
  std::string trouble;  // Why the scheduler does not place it, in its words.
};

struct Snapshot {
  Job job;
  // Every pod of the namespace that carries our job label or one of our names, ours or not.
  std::vector<Pod> pods;
  // The last known state of pods that are known to have existed and to be gone. Without this a pod
  // that was deleted could not be told from one that was never made.
  std::vector<Pod> gone;
  // By name: those of the namespace that carry our job label or one of our names, ours or not.
  std::map<std::string, ServiceView> services;
  std::optional<PodGroupView> pod_group;  // With the job's name, ours or not.
  std::string cluster_map;  // Name of the job's ConfigMap that is known to be there, if any.
  Clock::WallTime now{};
  AddressOptions addresses;
  // For the loopback scheme: ports of 127.0.0.1 that nobody uses, as far as anybody can know.
  std::vector<int32_t> free_ports;
  // For a job that has none: what its token can be.
  std::string fresh_token;
  // What the chief (or worker 0) last answered to GET /status.
  std::optional<TrainerReport> polled;
  // A refusal of the API server to make or change something of this job, as a sentence; empty:
  // none.
  std::string refusal;
  // What the API server has warned of when it made the pods; an empty text: of nothing. Nothing:
  // not all roles had a pod made since this operator began, or since the spec was changed.
  std::optional<TemplateWarning> template_warning;
  std::string default_image;
  std::string cuda_image;  // Instead of it where a container has GPUs; empty: there is none.
  // The operator's options.
  std::string gpu_resource = "nvidia.com/gpu";  // What `gpus` asks a node for.
  bool legacy_labels = false;  // TFJobs: also the labels of earlier tf-operators.
  // Of the leader that plans; 0: leaders are not elected.
  int64_t epoch = 0;
  // By uid of pods that are being deleted: for how long this operator has seen that, by a clock
  // that is never set. When a deletion began by the API server's clock says nothing about ours.
  std::map<std::string, Clock::Duration> deleting_for;
  // Uids of pods that an earlier leader made and that appeared when this one led already: perhaps
  // of a process that had lost its lease and did not know yet.
  std::set<std::string> late;
  GangOptions gang;
  bool adopt = false;  // TFJobs: what another controller began is taken over.
  // Another controller is at work on some TFJob, and may take any new one for its own.
  bool other_controller_about = false;
};

}  // namespace taas

#endif  // OPERATOR_PLAN_SNAPSHOT_H_
