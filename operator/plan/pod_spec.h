// A pod to be made, as far as TaaS decides about it.
//
// Ownership: value type. Threads: const access from any thread. Errors: none.
//
//   const std::string body = PodJson(spec);  // pod_json.h

#ifndef OPERATOR_PLAN_POD_SPEC_H_
#define OPERATOR_PLAN_POD_SPEC_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/job.h"

namespace taas {

struct PodSpec {
  std::string ns;
  std::string name;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::string job_name;  // The owner.
  std::string job_uid;
  std::string hostname;   // Empty: on the local cluster, where addresses are ports.
  std::string subdomain;
  std::string image;
  std::vector<std::pair<std::string, std::string>> env;
  int32_t cluster_port = 0;
  int32_t status_port = 0;
  std::vector<VolumeSpec> volumes;
  std::vector<std::string> avoid_nodes;

  Role role = Role::kWorker;
  int32_t index = 0;
  int32_t pod_number = 1;
};

}  // namespace taas

#endif  // OPERATOR_PLAN_POD_SPEC_H_
