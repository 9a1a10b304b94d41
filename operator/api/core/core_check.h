// What is wrong with a part of a pod by names and types alone: fields that core/v1 does not have,
// values of another type, words that a field does not take, what may not be left out.
//
// Null is as if it were not there, as to Kubernetes' decoder.
//
// Ownership: values. Threads: any. Errors: as a list, of at most kCoreErrorsMax.
//
//   for (const FieldError& error :
//        CheckCore(CoreTypeNamed("PodSpec"), pod["spec"], "spec", TypeWords::kDecoder)) …

#ifndef OPERATOR_API_CORE_CORE_CHECK_H_
#define OPERATOR_API_CORE_CORE_CHECK_H_

#include <cstddef>
#include <string>
#include <vector>

#include "operator/api/core/core_fields.h"
#include "operator/api/field_error.h"
#include "third_party/json.h"

namespace taas {

// More is not looked for: nobody reads it, and a text of one's own making may hold a million.
inline constexpr size_t kCoreErrorsMax = 64;

// What a wrong type is: a value that a schema refuses (kFieldTypeInvalid, part of a 422), or a text
// that cannot be decoded (kMalformed, a 400).
enum class TypeWords { kSchema, kDecoder };

// `value`: of the type, which stands at `path`. In the order of the object's fields.
std::vector<FieldError> CheckCore(const CoreType& type, const nlohmann::json& value,
                                  const std::string& path, TypeWords words);

// Removes the fields that `type` does not have, at any depth.
void PruneCore(const CoreType& type, nlohmann::json* value);

// "2", "500m", "1Gi", "1e3" and so on, of any size and sign.
bool IsQuantity(const std::string& text);

// "spec.nodeSelector.gpu"; a key that has dots or slashes stands in brackets.
std::string KeyPath(const std::string& path, const std::string& key);

}  // namespace taas

#endif  // OPERATOR_API_CORE_CORE_CHECK_H_
