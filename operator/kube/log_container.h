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

#include "operator/api/pod.h"

namespace taas {

// Of spec.containers, in their order.
std::vector<std::string> ContainerNames(std::string_view pod_json);

// The one that gets TF_CONFIG, or the first; empty: there are none.
std::string LogContainer(const std::vector<std::string>& names, JobKind kind);

// The init container that the pod has come to, if it runs or has failed: until it has done its
// work, its log is all that there is. Null: the pod is past them, or none has begun.
const InitContainer* LogInit(const Pod& pod);

// Of the two the one whose log tells of the pod now.
std::string LogContainerOf(const Pod& pod, const std::vector<std::string>& names, JobKind kind);

// Whether anything can have been written.
bool MayHaveLog(const Pod& pod);

}  // namespace taas

#endif  // OPERATOR_KUBE_LOG_CONTAINER_H_
