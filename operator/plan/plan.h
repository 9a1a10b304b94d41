// What to do about one job now: a pure function from what is known to steps and a status.
//
// The ledger is written ahead. While the wanted ledger differs from the stored one, the plan holds
// the write of the ledger and only such other steps as the stored ledger already covers; the rest
// follows when the write has been seen. No pod is made whose number the stored ledger does not
// have, no pod is deleted that it still counts on, and nothing that is not ours is touched.
//
// Ownership: values. Threads: any. Errors: none; a job that breaks an invariant gets a message that
// says so.
//
//   const Plan plan = PlanJob(snapshot);
//   for (const Step& step : plan.steps) Execute(step);

#ifndef OPERATOR_PLAN_PLAN_H_
#define OPERATOR_PLAN_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/plan/ledger.h"
#include "operator/plan/message.h"
#include "operator/plan/new_object.h"
#include "operator/plan/pod_spec.h"
#include "operator/plan/snapshot.h"

namespace taas {

// A PATCH of the job with its resourceVersion.
struct WriteLedger {
  Ledger ledger;
  std::vector<LedgerNote> notes;  // Events, once the write is stored.
};

struct ServicePort {
  std::string name;
  int32_t port = 0;

  bool operator==(const ServicePort&) const = default;
};

// A headless service through which replicas are found: one per job, or one per replica of a TFJob.
struct CreateService : NewObject {
  std::map<std::string, std::string> selector;
  std::vector<ServicePort> ports;
};

struct DeleteService {
  std::string ns;
  std::string name;
  std::string uid;  // A precondition.
  std::string why;
};

// What all pods of a large job refer to: cluster_map.h. It cannot be changed.
struct CreateConfigMap : NewObject {
  std::string key;
  std::string value;
};

struct CreatePod {
  PodSpec pod;
};

struct DeletePod {
  std::string ns;
  std::string name;
  std::string uid;               // A precondition.
  std::string resource_version;  // A precondition.
  bool force = false;            // Its node is lost: nobody will confirm.
  std::string why;
};

// The gang, for Volcano or coscheduling: an object of the job's name.
struct CreatePodGroup : NewObject {
  GangScheduler scheduler = GangScheduler::kNone;
  std::string spec;  // JSON.
};

// What the operator wrote into it changes; what others wrote stays.
struct UpdatePodGroup {
  std::string ns;
  std::string name;
  GangScheduler scheduler = GangScheduler::kNone;
  std::string uid;               // A precondition.
  std::string resource_version;  // A precondition.
  std::string before;  // JSON.
  std::string spec;    // JSON.
};

struct DeletePodGroup {
  std::string ns;
  std::string name;
  GangScheduler scheduler = GangScheduler::kNone;
  std::string uid;  // A precondition.
  std::string why;
};

// A pod that Kueue has a finalizer on: it goes, or its group is told that no successor comes.
struct ReleasePod {
  std::string ns;
  std::string name;
  std::string uid;               // A precondition.
  std::string resource_version;  // A precondition.
  bool ends_group = false;       // Else its finalizer is taken off.
};

// A pod or a service that another controller made for this job becomes ours.
struct Adopt {
  bool is_service = false;
  std::string ns;
  std::string name;
  std::string uid;               // A precondition.
  std::string resource_version;  // A precondition; of a service none.
  std::map<std::string, std::string> labels;
};

// Something under a name of ours that is not ours. It is never touched.
struct ReportConflict {
  std::string kind;
  std::string name;
  std::string owner_uid;
};

// The job itself, at the end of ttlSecondsAfterFinished; its pods and services go with it.
struct DeleteJob {
  JobKind kind = JobKind::kTrainingJob;
  std::string ns;
  std::string name;
  std::string uid;               // A precondition.
  std::string resource_version;  // A precondition.
  std::string why;
};

using Step = std::variant<WriteLedger, CreateService, CreatePod, DeletePod, DeleteService,
                          ReportConflict, DeleteJob, CreatePodGroup, UpdatePodGroup,
                          DeletePodGroup, ReleasePod, Adopt, CreateConfigMap>;

struct Plan {
  std::vector<Step> steps;
  JobStatus status;
  // When time alone changes the answer.
  std::optional<Clock::WallTime> wake_at;
  std::vector<Hindrance> hindrances;  // Events, at most one in a while for each cause.
  // Another controller is at work on this TFJob: nothing is done, and `status.message` says why.
  bool hands_off = false;
  // Loopback ports to put into the snapshot before planning again; the rest of the plan is empty.
  int32_t ports_wanted = 0;
};

Plan PlanJob(const Snapshot& snapshot);

}  // namespace taas

#endif  // OPERATOR_PLAN_PLAN_H_
