#include "cli/job_manifest.h"

#include <algorithm>
#include <filesystem>

#include "cli/job_ref.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/api/validation.h"
#include "operator/base/file_system.h"
#include "third_party/json.h"

namespace taas {
namespace {

bool IsManifestName(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ManifestFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    std::filesystem::directory_iterator entries(path, error);
    if (error) return ErrnoToStatus(error.value(), "list", path);
    for (const auto& entry : entries) {
      if (!entry.is_directory(error) && IsManifestName(entry.path())) {
        found.push_back(entry.path().string());
      }
    }
    if (found.empty()) {
      return absl::NotFoundError("read " + path + ": no .yaml, .yml or .json file is in it");
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

ManifestKind KindOf(std::string_view document) {
  ManifestKind out;
  const absl::StatusOr<nlohmann::json> object = ParseJsonObject(document);
  if (!object.ok()) return out;
  out.api_version = TextOf(*object, "apiVersion");
  out.kind = TextOf(*object, "kind");
  for (const JobKind kind : kJobKinds) {
    if (out.kind == DialectOf(kind).kind_name) out.job = kind;
  }
  return out;
}

std::vector<FieldError> CheckJob(JobKind kind, std::string_view document) {
  std::vector<FieldError> errors = ValidateAll(kind, document);
  if (kind != JobKind::kTrainingJob) return errors;
  if (errors.empty()) return ValidateTrainer(document);
  for (FieldError& error : ValidateTrainerNames(document)) {
    const auto same = [&error](const FieldError& told) { return told.path == error.path; };
    if (std::none_of(errors.begin(), errors.end(), same)) errors.push_back(std::move(error));
  }
  return errors;
}

}  // namespace taas
