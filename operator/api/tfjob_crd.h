// crds/tfjobs.yaml, inside the program: the one source of the API's schema.
//
// Ownership: process-wide constants, made at first use. Threads: any. Errors: none; a file that
// does not parse is a defect of the build and ends the process.
//
//   TfJobSchema().ApplyDefaults(&object);

#ifndef OPERATOR_API_TFJOB_CRD_H_
#define OPERATOR_API_TFJOB_CRD_H_

#include <string>
#include <string_view>

#include "operator/api/crd_schema.h"

namespace taas {

// The file, byte for byte.
std::string_view TfJobCrdYaml();
// The same object as JSON text.
const std::string& TfJobCrdJson();
const CrdSchema& TfJobSchema();

}  // namespace taas

#endif  // OPERATOR_API_TFJOB_CRD_H_
