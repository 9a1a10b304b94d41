#include "operator/api/tfjob_crd.h"

#include "operator/api/embedded_crd.h"

namespace taas {
namespace {

constexpr std::string_view kYaml =
#include "operator/api/tfjob_crd_text.inc"
    ;

const EmbeddedCrd& Crd() {
  static const EmbeddedCrd crd("crds/tfjobs.yaml", kYaml);
  return crd;
}

}  // namespace

std::string_view TfJobCrdYaml() { return kYaml; }

const std::string& TfJobCrdJson() { return Crd().json(); }

const CrdSchema& TfJobSchema() { return Crd().schema(); }

}  // namespace taas
