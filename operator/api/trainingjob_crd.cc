#include "operator/api/trainingjob_crd.h"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "operator/api/manifest.h"
#include "operator/base/check.h"

namespace taas {
namespace {

constexpr std::string_view kYaml =
#include "operator/api/trainingjob_crd_text.inc"
    ;

std::string ParseYaml() {
  absl::StatusOr<std::vector<std::string>> documents = ManifestDocuments(kYaml);
  CHECK(documents.ok()) << "crds/trainingjobs.yaml: " << documents.status().ToString();
  CHECK(documents->size() == 1) << "crds/trainingjobs.yaml holds one document";
  return std::move(documents->front());
}

CrdSchema ParseSchema() {
  absl::StatusOr<CrdSchema> schema = CrdSchema::Parse(nlohmann::json::parse(TrainingJobCrdJson()));
  CHECK(schema.ok()) << "crds/trainingjobs.yaml: " << schema.status().ToString();
  return *std::move(schema);
}

}  // namespace

std::string_view TrainingJobCrdYaml() { return kYaml; }

const std::string& TrainingJobCrdJson() {
  static const std::string json = ParseYaml();
  return json;
}

const CrdSchema& TrainingJobSchema() {
  static const CrdSchema schema = ParseSchema();
  return schema;
}

}  // namespace taas
