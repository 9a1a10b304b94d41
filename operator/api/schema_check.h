// What is wrong with an object by its schema, in the words of a kube-apiserver; CEL apart.
//
// Ownership: values. Threads: any. Errors: as a list.
//
//   for (const FieldError& error : CheckSchema(root, object)) Print(error);

#ifndef OPERATOR_API_SCHEMA_CHECK_H_
#define OPERATOR_API_SCHEMA_CHECK_H_

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "operator/api/crd_schema.h"
#include "operator/api/field_error.h"

namespace taas {

// In the order of the object's fields.
std::vector<FieldError> CheckSchema(const CrdSchema::Node& root, const nlohmann::json& object);

}  // namespace taas

#endif  // OPERATOR_API_SCHEMA_CHECK_H_
