#include "operator/api/template_check.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "operator/api/core/core_check.h"
#include "operator/api/core/core_fields.h"
#include "operator/api/core/pod_spec_check.h"
#include "operator/api/dialect.h"
#include "operator/base/closest_name.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// Null where there is nothing of the name, or no object that could have it.
const Json& In(const Json& object, const char* field) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(field);
  return found == object.end() ? nothing : *found;
}

std::string ItemOf(const std::string& list, size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

class Check {
 public:
  explicit Check(JobKind kind) : kind_(kind) {}
  std::vector<FieldError> Take() && { return std::move(errors_); }

  void TfJob(const Json& spec) {
    const Json& roles = In(spec, "tfReplicaSpecs");
    if (!roles.is_object()) return;
    for (const auto& [role, of_role] : roles.items()) {
      Template(In(of_role, "template"), /*bundled=*/false, {},
               "spec.tfReplicaSpecs." + role + ".template");
    }
  }

  void TrainingJob(const Json& spec) {
    const bool bundled = !In(spec, "trainer").is_null();
    std::set<std::string> volumes;
    const Json& declared = In(spec, "volumes");
    for (size_t i = 0; declared.is_array() && i < declared.size(); ++i) {
      const Json& name = In(declared[i], "name");
      if (name.is_string()) volumes.insert(name.get<std::string>());
      VolumeSource(In(declared[i], "source"), ItemOf("spec.volumes", i) + ".source");
    }
    const Json& roles = In(spec, "roles");
    if (!roles.is_object()) return;
    for (const auto& [role, of_role] : roles.items()) {
      const std::string path = "spec.roles." + role;
      Variables(of_role, path);
      Template(In(of_role, "template"), bundled, volumes, path + ".template");
    }
  }

  // Whether there has to be one is for the schema to say.
  void Template(const Json& pod_template, bool bundled, const std::set<std::string>& volumes,
                const std::string& path) {
    if (!pod_template.is_object()) return;
    const Json& metadata = In(pod_template, "metadata");
    if (!metadata.is_null()) Core("ObjectMeta", metadata, path + ".metadata");
    const Json& spec = In(pod_template, "spec");
    if (spec.is_null()) return;
    PodSpecOptions options{.path = path + ".spec"};
    options.completed = bundled;
    options.container = std::string(DialectOf(kind_).container);
    options.volumes = volumes;
    Add(CheckPodSpec(spec, options));
  }

 private:
  void Add(std::vector<FieldError> found) {
    for (FieldError& error : found) {
      if (errors_.size() < kCoreErrorsMax) errors_.push_back(std::move(error));
    }
  }

  void Core(const char* type, const Json& value, const std::string& path) {
    Add(CheckCore(CoreTypeNamed(type), value, path, TypeWords::kSchema));
  }

  // A Volume without its name.
  void VolumeSource(const Json& source, const std::string& path) {
    if (!source.is_object()) return;
    Json volume = source;
    volume["name"] = "volume";
    Core("Volume", volume, path);
  }

  void Variables(const Json& role, const std::string& path) {
    const Json& env = In(role, "env");
    for (size_t i = 0; env.is_array() && i < env.size(); ++i) {
      const Json& from = In(env[i], "valueFrom");
      if (!from.is_null()) Core("EnvVarSource", from, ItemOf(path + ".env", i) + ".valueFrom");
    }
    const Json& sources = In(role, "envFrom");
    for (size_t i = 0; sources.is_array() && i < sources.size(); ++i) {
      if (!sources[i].is_null()) Core("EnvFromSource", sources[i], ItemOf(path + ".envFrom", i));
    }
  }

  const JobKind kind_;
  std::vector<FieldError> errors_;
};

}  // namespace

std::vector<FieldError> CheckTemplates(JobKind kind, const Json& object) {
  Check check(kind);
  const Json& spec = In(object, "spec");
  if (kind == JobKind::kTfJob) {
    check.TfJob(spec);
  } else {
    check.TrainingJob(spec);
  }
  return std::move(check).Take();
}

std::vector<FieldError> CheckTemplate(const Job& job, Role role, const std::string& path) {
  const auto found = job.spec.roles.find(role);
  if (found == job.spec.roles.end() || found->second.pod_template.empty()) return {};
  const Json pod_template =
      Json::parse(found->second.pod_template, nullptr, /*allow_exceptions=*/false);
  std::set<std::string> volumes;
  for (const VolumeSpec& volume : job.spec.volumes) volumes.insert(volume.name);
  Check check(job.kind);
  check.Template(pod_template, job.spec.bundled_trainer, volumes, path);
  return std::move(check).Take();
}

std::vector<FieldError> TakeUnknownOfPod(Json* pod) {
  std::vector<FieldError> errors;
  const std::vector<std::string> parts = {"apiVersion", "kind", "metadata", "spec", "status"};
  std::vector<std::string> unknown;
  for (const auto& [name, ignored] : pod->items()) {
    if (std::find(parts.begin(), parts.end(), name) == parts.end()) unknown.push_back(name);
  }
  for (const std::string& name : unknown) {
    pod->erase(name);
    if (errors.size() >= kCoreErrorsMax) continue;
    errors.push_back({name, std::string(kFieldUnknown), "unknown field \"" + name + "\"",
                      DidYouMean(name, parts)});
  }
  for (const auto& [part, type] :
       {std::pair("metadata", "ObjectMeta"), std::pair("spec", "PodSpec")}) {
    const auto found = pod->find(part);
    if (found == pod->end()) continue;
    for (FieldError& error :
         CheckCore(CoreTypeNamed(type), *found, part, TypeWords::kDecoder)) {
      if (IsDecodingError(error)) errors.push_back(std::move(error));
    }
    PruneCore(CoreTypeNamed(type), &*found);
  }
  return errors;
}

std::vector<FieldError> NotToldYet(std::vector<FieldError> errors,
                                   const std::vector<FieldError>& told) {
  std::set<std::string> paths;
  for (const FieldError& error : told) paths.insert(error.path);
  std::erase_if(errors, [&paths](const FieldError& error) { return paths.contains(error.path); });
  return errors;
}

}  // namespace taas
