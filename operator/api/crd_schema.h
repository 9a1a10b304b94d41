// The structural schema of a CustomResourceDefinition, at work: unknown fields, defaults,
// validation.
//
// Does with an object what a kube-apiserver does with the same schema, so that the local cluster
// and `taas validate` have no second list of rules. CEL is not evaluated here
// (operator/api/job_rules.h twins our rules). Parsing refuses a keyword that is not implemented: a
// rule is never silently without effect.
//
// Ownership: immutable value, cheap to copy. Threads: const methods from any thread. Errors:
// InvalidArgument for a schema; a list of FieldError for an object.
//
//   ASSIGN_OR_RETURN(const CrdSchema schema, CrdSchema::Parse(crd));
//   schema.ApplyDefaults(&object);
//   for (const FieldError& error : schema.Validate(object)) Print(error);

#ifndef OPERATOR_API_CRD_SCHEMA_H_
#define OPERATOR_API_CRD_SCHEMA_H_

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"
#include "operator/api/field_error.h"

namespace taas {

class CrdSchema {
 public:
  // A CEL rule as the schema states it.
  struct Rule {
    std::string at;  // Path of the value that the rule is attached to: "", "spec", "spec.roles".
    std::string rule;
    std::string message;
    std::string message_expression;  // In CEL, what is said in place of `message`; empty: that.
    std::string field_path;  // Where the error is shown, below `at`: ".roles.ps"; empty: at `at`.
  };

  // Of the version that is stored.
  static absl::StatusOr<CrdSchema> Parse(const nlohmann::json& crd);

  // Fields that the schema does not have, as errors of strict decoding.
  std::vector<FieldError> UnknownFields(const nlohmann::json& object) const;
  // Removes them.
  void Prune(nlohmann::json* object) const;
  // Sets what is absent, or null where null is not allowed; removes such a null where there is no
  // default.
  void ApplyDefaults(nlohmann::json* object) const;
  // Everything but CEL. The order is that of the object's fields.
  std::vector<FieldError> Validate(const nlohmann::json& object) const;

  std::vector<Rule> Rules() const;
  // Paths of all declared fields, "spec.volumes[].name", "spec.tfReplicaSpecs{}.replicas", sorted.
  std::vector<std::string> FieldPaths() const;

  struct Node;  // One value's schema.

 private:
  explicit CrdSchema(std::shared_ptr<const Node> root) : root_(std::move(root)) {}

  std::shared_ptr<const Node> root_;
};

}  // namespace taas

#endif  // OPERATOR_API_CRD_SCHEMA_H_
