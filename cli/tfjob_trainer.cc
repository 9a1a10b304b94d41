#include "cli/tfjob_trainer.h"

#include <cstddef>
#include <string>

#include "operator/api/json_field.h"
#include "operator/api/rule_twin.h"
#include "operator/plan/tf_config.h"
#include "operator/plan/use_pod.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// More than so many.
bool HasWords(const Json& container, const char* key, size_t few) {
  const Json& words = ValueAt(container, {key});
  return words.is_array() && words.size() > few;
}

// "" where the trainer's container has none.
std::string VariableOf(const RoleSpec& role) {
  if (role.container < 0) return "";
  const Json made = Json::parse(role.pod_template, nullptr, false);
  const Json& containers = ValueAt(made, {"spec", "containers"});
  const auto at = static_cast<size_t>(role.container);
  if (!containers.is_array() || at >= containers.size()) return "";
  if (HasWords(containers[at], "args", 0) || HasWords(containers[at], "command", 1)) return "";
  std::string value;
  for (const Json& variable : ValueAt(containers[at], {"env"})) {
    if (TextOf(variable, "name") == kTrainerVariable) value = TextOf(variable, "value");
  }
  return value;
}

bool IsTfJob(const Job& job) { return job.kind == JobKind::kTfJob; }

}  // namespace

void TakeTrainerOfTemplate(Job* job) {
  const auto role = job->spec.roles.find(UseRole(*job));
  if (!IsTfJob(*job) || role == job->spec.roles.end()) return;
  std::string config = VariableOf(role->second);
  // One that is nested without end is not gone into.
  const absl::StatusOr<Json> read = ParseJsonObject(config);
  if (!read.ok()) return;
  job->spec.bundled_trainer = true;
  job->spec.trainer = {.image = "",
                       .config = std::move(config),
                       .checkpoint_dir = TextOf(ValueAt(*read, {"checkpoint"}), "dir")};
}

std::string_view VolumesField(const Job& job) {
  return IsTfJob(job) ? "volumes of the template" : "spec.volumes";
}

std::string_view CheckpointDirField(const Job& job) {
  return IsTfJob(job) ? "checkpoint.dir in TAAS_TRAINER" : "spec.trainer.checkpoint.dir";
}

}  // namespace taas
