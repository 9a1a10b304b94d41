// A value of a type of core/v1 with all the fields that it may have, and below them.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const nlohmann::json pod_template = EveryField(CoreTypeNamed("PodTemplateSpec"));

#ifndef OPERATOR_API_CORE_EVERY_FIELD_H_
#define OPERATOR_API_CORE_EVERY_FIELD_H_

#include "operator/api/core/core_fields.h"
#include "third_party/json.h"

namespace taas {

// Each text is "name" or the first word that the field takes; lists and maps have one item.
nlohmann::json EveryField(const CoreType& type);

}  // namespace taas

#endif  // OPERATOR_API_CORE_EVERY_FIELD_H_
