// A CustomResourceDefinition that is part of the program, as text, as JSON and as a schema.
//
// Ownership: made once, kept for the life of the process; `yaml` outlives it. Threads: const
// methods from any thread. Errors: none; a file that does not parse is a defect of the build and
// ends the process.
//
//   static const EmbeddedCrd crd("crds/tfjobs.yaml", kYaml);
//   crd.schema().ApplyDefaults(&object);

#ifndef OPERATOR_API_EMBEDDED_CRD_H_
#define OPERATOR_API_EMBEDDED_CRD_H_

#include <string>
#include <string_view>

#include "operator/api/crd_schema.h"

namespace taas {

class EmbeddedCrd {
 public:
  // `file` is named where it does not parse.
  EmbeddedCrd(std::string_view file, std::string_view yaml);

  const std::string& json() const { return json_; }
  const CrdSchema& schema() const { return schema_; }

 private:
  std::string json_;
  CrdSchema schema_;
};

}  // namespace taas

#endif  // OPERATOR_API_EMBEDDED_CRD_H_
