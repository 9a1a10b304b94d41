// The names and types of what a pod template may hold: core/v1's own, as one Kubernetes knows them.
//
// Made from Kubernetes' OpenAPI by tools/podfields and built in. The definitions of our kinds say
// nothing of a pod's fields: their schema alone is larger than what kubectl can apply.
//
// Ownership: immutable, for the whole process. Threads: any. Errors: a broken table ends the
// program; a test reads it.
//
//   const CoreType& container = CoreTypeNamed("Container");
//   const CoreField* field = container.Find("imagePullPolicy");

#ifndef OPERATOR_API_CORE_CORE_FIELDS_H_
#define OPERATOR_API_CORE_CORE_FIELDS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace taas {

struct CoreType;

struct CoreField {
  enum class Kind {
    kString,
    kBoolean,
    kInt32,
    kInt64,
    kQuantity,
    kIntOrString,
    kTime,
    kAny,     // Whatever.
    kStruct,
  };
  enum class Many { kOne, kList, kMap };

  Kind kind = Kind::kString;
  Many many = Many::kOne;
  bool required = false;
  const CoreType* type = nullptr;  // Of kStruct.
  std::vector<std::string> words;  // Of kString: all that it may be; none: any text.
};

struct CoreType {
  std::string name;  // "PodSpec"
  std::map<std::string, CoreField, std::less<>> fields;

  const CoreField* Find(std::string_view field) const {
    const auto found = fields.find(field);
    return found == fields.end() ? nullptr : &found->second;
  }
  std::vector<std::string> Names() const;
};

// One of those that a PodTemplateSpec reaches.
const CoreType& CoreTypeNamed(std::string_view name);
// "v1.34.4"
const std::string& CoreVersion();
// "string", "[]string", "map[string]string", "int32", as Go's decoder names a type.
std::string GoTypeOf(const CoreField& field);

// What would have been meant by the field that `path` of a pod ends in, which its type does not
// have: "spec.containers[0].comand" gives `did you mean "command"?`. Empty: nothing is near.
std::string HintForPodField(std::string_view path);

}  // namespace taas

#endif  // OPERATOR_API_CORE_CORE_FIELDS_H_
