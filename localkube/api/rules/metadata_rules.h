// What the metadata of any object may say: labels, annotations, finalizers, owners.
//
// The same at the creation and at each change, whatever verb or patch brings it; what a change
// leaves as it was is not looked at again, so that an object from a version that let more in can
// still be changed elsewhere. Words and fields are a kube-apiserver's.
//
// Ownership: values. Threads: any. Errors: FieldErrors of a 422, at most kFieldErrorsMax.
//
//   const auto errors = MetadataFlaws(kind, /*old=*/nullptr, object["metadata"]);

#ifndef LOCALKUBE_API_RULES_METADATA_RULES_H_
#define LOCALKUBE_API_RULES_METADATA_RULES_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "localkube/api/kinds.h"
#include "operator/api/field_error.h"

namespace taas::localkube {

// Kubernetes' own limit for the annotations of one object.
inline constexpr size_t kAnnotationBytesMax = 256 << 10;

// `old` is null for a new object. Types are right (ParseObject).
std::vector<FieldError> MetadataFlaws(const Kind& kind, const nlohmann::json* old,
                                      const nlohmann::json& metadata);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_RULES_METADATA_RULES_H_
