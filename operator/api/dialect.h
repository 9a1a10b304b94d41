// Every visible difference between the two kinds of job objects.
//
// The planner and the controller know one Job; where a TrainingJob and a TFJob look different to
// users, to programs in the pods or to tools around them, the difference is a value or a function
// here, so that it can be read in one place.
//
// Ownership: constants. Threads: any. Errors: none.
//
//   const Dialect& dialect = DialectOf(job.kind);
//   path = "/apis/" + std::string(dialect.group_version) + …;

#ifndef OPERATOR_API_DIALECT_H_
#define OPERATOR_API_DIALECT_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "operator/api/job.h"

namespace taas {

struct Dialect {
  JobKind kind = JobKind::kTrainingJob;
  std::string_view group_version;  // "taas.dev/v1", "kubeflow.org/v1"
  std::string_view kind_name;      // "TrainingJob", "TFJob"
  std::string_view plural;         // "trainingjobs", "tfjobs"
  std::string_view container;      // That gets TF_CONFIG: "trainer", "tensorflow".
  std::string_view port_name;      // "taas", "tfjob-port"
  bool status_port = true;         // The pods declare a port for /status.
  bool tf_config_of_one = true;    // TF_CONFIG also where the job has one replica in all.
  bool service_per_replica = false;

  constexpr std::string_view group() const {  // "taas.dev", "kubeflow.org"
    return group_version.substr(0, group_version.find('/'));
  }
};
const Dialect& DialectOf(JobKind kind);

// "chief", "ps", …; "master" for the chief of a TFJob that calls it so. For names, labels and
// TF_CONFIG.
std::string_view RoleNameIn(const Job& job, Role role);
// "worker", "Worker": as in the manifest and in status.
std::string_view RoleKeyIn(const Job& job, Role role);

// "J-role-i", also the pod's hostname.
std::string PodName(const Job& job, Role role, int32_t index);

// What this dialect's pods carry beside TaaS's own labels: for a TFJob
// training.kubeflow.org/{operator-name,job-name,replica-type,replica-index,job-role}, and with
// `legacy` those of earlier tf-operators as well.
std::map<std::string, std::string> ForeignLabels(const Job& job, Role role, int32_t index,
                                                 bool legacy);

}  // namespace taas

#endif  // OPERATOR_API_DIALECT_H_
