// Reads the few fields that the operator needs out of the JSON of a pod or of any other object.
//
// One pass over the text: what is not needed is skipped lexically, no document is built, whatever
// the pod carries, and long messages are cut.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for a text that is no JSON object as far
// as it is read, a field of the wrong type, or an object without a name. Keys are compared as they
// are written: the API server escapes none of these.
//
//   ASSIGN_OR_RETURN(const Pod pod, DecodePod(json));

#ifndef OPERATOR_KUBE_POD_DECODER_H_
#define OPERATOR_KUBE_POD_DECODER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/api/pod.h"

namespace taas {

// Conditions' and reasons' messages are cut here, at a character: enough for a sentence in
// status.message.
inline constexpr size_t kPodMessageBytesMax = 256;
// What Kubernetes itself keeps of a termination message; it is JSON, so it is not cut shorter.
inline constexpr size_t kTerminationMessageBytesMax = 4096;

absl::StatusOr<Pod> DecodePod(std::string_view json);

// Any object with metadata, such as a service: who it is and whose.
struct OwnedObject {
  ObjectMeta meta;
  std::string owner_uid;   // Of the controlling owner reference; empty: nobody's.
  std::string owner_kind;  // Of the same: "TrainingJob", "TFJob".
  std::string job;         // Label taas.dev/job-name.
  int64_t epoch = 0;       // Annotation taas.dev/epoch; 0: none that makes sense.
};
absl::StatusOr<OwnedObject> DecodeOwnedObject(std::string_view json);

// A PodGroup of Volcano or of the coscheduling plugin.
struct PodGroup {
  ObjectMeta meta;
  std::string owner_uid;   // Of the controlling owner reference; empty: nobody's.
  std::string owner_kind;  // Of the same: "TrainingJob", "TFJob".
  std::string job;         // Label taas.dev/job-name.
  int32_t min_member = 0;
  std::string spec;     // Annotation taas.dev/pod-group-spec.
  std::string phase;
  std::string trouble;  // Of the condition Unschedulable, while it is True.
};
absl::StatusOr<PodGroup> DecodePodGroup(std::string_view json);

}  // namespace taas

#endif  // OPERATOR_KUBE_POD_DECODER_H_
