// The whole operator inside a program: transport, controller, metrics and health pages.
//
// `taas-operator` is this and flags; `taas local` runs the same against its own API server. Stop
// and the destructor return when no request is under way and no thread is left; the jobs go on
// without it.
//
// With leader election several of these may run, and one of them leads: it writes, the others stand
// by with what it sees. A leader that loses its lease ends the whole process, at once and with
// kLeaseLostExitCode (lease_watchdog.h); one that is stopped hands over first.
//
// Ownership: owns its threads and connections. Threads: Start and Stop from any thread, not from
// one of its own. Errors: InvalidArgument for a bad option or kubeconfig, with its name;
// Unavailable for an address that cannot be listened on. An API server that does not answer is no
// error: the operator waits for it.
//
//   ASSIGN_OR_RETURN(auto taas_operator, OperatorProcess::Start({.kubeconfig = path}));
//   ...
//   taas_operator->Stop();

#ifndef OPERATOR_CONTROLLER_OPERATOR_PROCESS_H_
#define OPERATOR_CONTROLLER_OPERATOR_PROCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/job.h"
#include "operator/kube/lease_times.h"
#include "operator/kube/transport.h"
#include "operator/plan/address_scheme.h"
#include "operator/plan/gang_scheduler.h"

namespace taas {

struct LeaderElectionOptions {
  bool enabled = false;
  std::string ns;  // Of the Lease; empty: that of the pod, or of the kubeconfig's context.
  std::string name = "taas-operator";
  LeaseTimes times;
};

struct OperatorOptions {
  std::string kubeconfig;               // A file; empty: the account of the pod this runs in.
  std::vector<std::string> namespaces;  // Empty: all.
  std::vector<JobKind> kinds = {JobKind::kTrainingJob, JobKind::kTfJob};
  std::string metrics_addr;             // "127.0.0.1:8080"; port 0: any free one; empty: none.
  std::string health_addr;              // As metrics_addr; may be the same address.
  std::string trainer_image;            // Empty: the image of this release.
  std::string trainer_cuda_image;       // Of replicas with GPUs; empty: trainer_image as well.
  AddressScheme address_scheme = AddressScheme::kDns;
  std::string cluster_domain;           // Empty: addresses end in ".svc".
  std::string gpu_resource = "nvidia.com/gpu";
  // TFJobs get one service for all replicas instead of one for each.
  bool tfjob_service_per_job = false;
  // Pods of TFJobs carry the labels of earlier tf-operators, too.
  bool tfjob_legacy_labels = false;
  LeaderElectionOptions leader_election;
  GangOptions gang;
  // TFJobs that another controller began are taken over.
  bool adopt = false;
  // Writes to the API server that are under way at one time; those of leader election come on top.
  int api_writes = kApiWritesDefault;
};

class OperatorProcess {
 public:
  static absl::StatusOr<std::unique_ptr<OperatorProcess>> Start(OperatorOptions options);
  virtual ~OperatorProcess() = default;

  // Idempotent.
  virtual void Stop() = 0;
  // True once the first lists of jobs, pods and services have arrived, of a standby as well: it
  // could lead now.
  virtual bool Ready() const = 0;
  // The text of /metrics.
  virtual std::string Metrics() const = 0;
  // Ports really listened on; 0: none.
  virtual int metrics_port() const = 0;
  virtual int health_port() const = 0;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_OPERATOR_PROCESS_H_
