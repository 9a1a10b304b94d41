#include "operator/api/trainingjob_crd.h"

#include "operator/api/embedded_crd.h"

namespace taas {
namespace {

constexpr std::string_view kYaml =
#include "operator/api/trainingjob_crd_text.inc"
    ;

const EmbeddedCrd& Crd() {
  static const EmbeddedCrd crd("crds/trainingjobs.yaml", kYaml);
  return crd;
}

}  // namespace

std::string_view TrainingJobCrdYaml() { return kYaml; }

const std::string& TrainingJobCrdJson() { return Crd().json(); }

const CrdSchema& TrainingJobSchema() { return Crd().schema(); }

}  // namespace taas
