// Whose log is a replica's: a pod may have containers beside the one that trains.
//
// Pure. Ownership: values. Threads: any. Errors: none; a text that is no pod has no containers.
//
//   const std::string container = LogContainer(ContainerNames(pod_json), JobKind::kTfJob);
//   WithQuery(path, {{"container", container}});

#ifndef OPERATOR_KUBE_LOG_CONTAINER_H_
#define OPERATOR_KUBE_LOG_CONTAINER_H_

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/job.h"

namespace taas {

// Of spec.containers, in their order.
std::vector<std::string> ContainerNames(std::string_view pod_json);

// The one that gets TF_CONFIG, or the first; empty: there are none.
std::string LogContainer(const std::vector<std::string>& names, JobKind kind);

}  // namespace taas

#endif  // OPERATOR_KUBE_LOG_CONTAINER_H_
