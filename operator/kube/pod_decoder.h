// What a pod, or another object beside a job, says of itself, as far as the operator asks.
//
// Ownership: values. Threads: any. Errors: those of object_fields.h, which reads the fields.
//
//   ASSIGN_OR_RETURN(const Pod pod, DecodePod(reply.body));

#ifndef OPERATOR_KUBE_POD_DECODER_H_
#define OPERATOR_KUBE_POD_DECODER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/api/pod.h"

namespace taas {

absl::StatusOr<Pod> DecodePod(std::string_view object);

// Any object with metadata, such as a service: who it is and whose.
struct OwnedObject {
  ObjectMeta meta;
  std::string owner_uid;   // Of the controlling owner reference; empty: nobody's.
  std::string owner_kind;  // Of the same: "TrainingJob", "TFJob".
  std::string job;         // Label taas.dev/job-name.
  int64_t epoch = 0;       // Annotation taas.dev/epoch; 0: none that makes sense.
};
absl::StatusOr<OwnedObject> DecodeOwnedObject(std::string_view object);

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
