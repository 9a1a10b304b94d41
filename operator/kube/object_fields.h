// The few fields of a pod, or of any other object, that the operator reads: of JSON or of protobuf.
//
// One table says where each field stands in either form. One pass over the text: what is not needed
// is passed over, no document is built, whatever the object carries, and long messages are cut.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for a text that is no object as far as
// it is read, a field of the wrong type, or an object without a name. Keys of JSON are compared as
// they are written: the API server escapes none of these.
//
//   ASSIGN_OR_RETURN(const ObjectFields fields, ReadObjectFields(reply.body));

#ifndef OPERATOR_KUBE_OBJECT_FIELDS_H_
#define OPERATOR_KUBE_OBJECT_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/job.h"
#include "operator/base/clock.h"

namespace taas {

// Conditions' and reasons' messages are cut here, at a character: enough for a sentence in
// status.message.
inline constexpr size_t kPodMessageBytesMax = 256;
// What Kubernetes itself keeps of a termination message; it is JSON, so it is not cut shorter.
inline constexpr size_t kTerminationMessageBytesMax = 4096;

struct OwnerReference {
  std::string uid, kind;
  bool controller = false;
  bool operator==(const OwnerReference&) const = default;
};
struct PodCondition {
  std::string type, status, reason, message;
  bool operator==(const PodCondition&) const = default;
};
struct ContainerSpec {
  std::string name, image, restart_policy;  // The latter of init containers only.
  bool operator==(const ContainerSpec&) const = default;
};
struct ContainerStatus {
  std::string name, waiting_reason, waiting_message, exit_reason, termination_message;
  std::optional<int32_t> exit_code;
  std::optional<Clock::WallTime> started, finished;
  int32_t restart_count = 0;
  // Of the run before this one.
  std::optional<int32_t> last_exit_code;
  std::string last_exit_reason, last_termination_message;
  bool operator==(const ContainerStatus&) const = default;
};

// Everything that is read, before it is put together.
struct ObjectFields {
  ObjectMeta meta;
  std::vector<OwnerReference> owners;
  std::string job, role, index, attempt, pod_number, bootstrap, token, cluster_map, epoch;
  std::string template_hash, requests;
  std::string node, restart_policy, phase, reason, message, ip;
  int64_t deletion_grace = 0;
  bool held_by_kueue = false;
  std::string retriable, group_spec;
  int32_t min_member = 0;
  std::vector<PodCondition> conditions;
  std::vector<ContainerSpec> containers, init_containers;
  std::vector<ContainerStatus> statuses, init_statuses;
  bool operator==(const ObjectFields&) const = default;
};

// `object`: as the API server sends it when it is asked for it alone. In protobuf it is a pod, as
// fields of another kind have other numbers.
absl::StatusOr<ObjectFields> ReadObjectFields(std::string_view object);
// The metadata only, of any kind.
absl::StatusOr<ObjectFields> ReadObjectMetadata(std::string_view object);

}  // namespace taas

#endif  // OPERATOR_KUBE_OBJECT_FIELDS_H_
