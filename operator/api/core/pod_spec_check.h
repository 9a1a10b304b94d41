// What an API server says to the spec of a pod: by names and types (core_check.h), and of the
// values what everybody gets wrong once and no node could follow.
//
// It is not all that a server looks at, and it refuses nothing that a server takes: its words are
// those of a kube-apiserver.
//
// Ownership: values. Threads: any. Errors: as a list; decoding errors (IsDecodingError) are a 400,
// others a 422.
//
//   const std::vector<FieldError> errors = CheckPodSpec(pod["spec"], {.path = "spec"});

#ifndef OPERATOR_API_CORE_POD_SPEC_CHECK_H_
#define OPERATOR_API_CORE_POD_SPEC_CHECK_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "operator/api/core/core_check.h"
#include "operator/api/field_error.h"
#include "third_party/json.h"

namespace taas {

struct PodSpecOptions {
  std::string path;  // Where the spec stands: "spec.roles.worker.template.spec".
  TypeWords words = TypeWords::kSchema;
  // Of a template that the operator completes: it may have no containers at all, the one of this
  // name may do without an image, and these volumes are added.
  bool completed = false;
  std::string container;
  std::set<std::string> volumes;
};

// `spec`: an object, or what stands in its place. Null reads as an empty one.
std::vector<FieldError> CheckPodSpec(const nlohmann::json& spec, const PodSpecOptions& options);

}  // namespace taas

#endif  // OPERATOR_API_CORE_POD_SPEC_CHECK_H_
