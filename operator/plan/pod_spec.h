// A pod to be made, as far as TaaS decides about it.
//
// Ownership: value type. Threads: const access from any thread. Errors: none.
//
//   const std::string body = PodJson(spec);  // pod_json.h

#ifndef OPERATOR_PLAN_POD_SPEC_H_
#define OPERATOR_PLAN_POD_SPEC_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operator/api/job.h"
#include "operator/plan/address_scheme.h"
#include "operator/plan/new_object.h"
#include "operator/plan/tf_config.h"

namespace taas {

// What tells a replica of the others.
struct ClusterFacts {
  Job job;
  Ledger ledger;
  AddressOptions addresses;
  ClusterText cluster;
};

struct PodSpec : NewObject {
  std::string hostname;  // Empty: none, where addresses do not come from it.
  std::string subdomain;
  std::string restart_policy = "Never";

  // What the user wrote about the role: texts and numbers of its RoleSpec. The template's fields
  // win over TaaS's, but for what makes the pod a replica (names, addresses, restart policy).
  RoleSpec user;
  // The bundled trainer: container `trainer` is made or completed, and its command is ours.
  bool bundled_trainer = true;
  std::string container;  // That gets TF_CONFIG: its name, if it has to be made.
  std::string image;      // Of the bundled trainer.
  // The same, where the container has GPUs; empty: `image` as well.
  std::string cuda_image;
  // Our variables, which win over the user's, are written from this only when the pod is sent:
  // those of one pod may name every replica, so a plan that held them for all its pods could grow
  // with the square of the job. All pods of a plan share it.
  std::shared_ptr<const ClusterFacts> cluster;
  std::string port_name;
  int32_t cluster_port = 0;
  int32_t status_port = 0;  // 0: not declared.
  std::vector<VolumeSpec> volumes;
  std::vector<std::string> avoid_nodes;  // As long as others fit.
  std::string gpu_resource;
  std::string priority_class;  // Unless the template says one.
  std::string scheduler_name;  // Likewise; empty: the cluster's default one.
  bool hide_gpus = false;  // Unless the role asks for some, or the user says otherwise.
  int32_t node_loss_seconds = 60;

  Role role = Role::kWorker;
  int32_t index = 0;
  int32_t pod_number = 1;
};

}  // namespace taas

#endif  // OPERATOR_PLAN_POD_SPEC_H_
