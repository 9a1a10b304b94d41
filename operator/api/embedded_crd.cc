#include "operator/api/embedded_crd.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/manifest.h"
#include "operator/base/check.h"
#include "third_party/json.h"

namespace taas {
namespace {

std::string ParseYaml(std::string_view file, std::string_view yaml) {
  absl::StatusOr<std::vector<std::string>> documents = ManifestDocuments(yaml);
  CHECK(documents.ok()) << file << ": " << documents.status().ToString();
  CHECK(documents->size() == 1) << file << " holds one document";
  return std::move(documents->front());
}

CrdSchema ParseSchema(std::string_view file, const std::string& json) {
  absl::StatusOr<CrdSchema> schema = CrdSchema::Parse(nlohmann::json::parse(json));
  CHECK(schema.ok()) << file << ": " << schema.status().ToString();
  return *std::move(schema);
}

}  // namespace

EmbeddedCrd::EmbeddedCrd(std::string_view file, std::string_view yaml)
    : json_(ParseYaml(file, yaml)), schema_(ParseSchema(file, json_)) {}

}  // namespace taas
