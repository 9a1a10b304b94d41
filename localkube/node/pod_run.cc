#include "localkube/node/pod_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "localkube/node/gpu_slots.h"
#include "localkube/node/pod_fields.h"
#include "localkube/node/pod_json.h"
#include "localkube/node/program_text.h"
#include "operator/api/defaults.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

constexpr int64_t kDefaultGraceSeconds = 30;
// A year; more would overflow the clock's nanoseconds long before anybody sees the end.
constexpr int64_t kGraceSecondsMax = int64_t{365} * 86'400;

std::vector<std::string> Texts(const Json& array) {
  std::vector<std::string> out;
  if (!array.is_array()) return out;
  for (const Json& value : array) {
    if (value.is_string()) out.push_back(value.get<std::string>());
  }
  return out;
}

std::string WithoutTag(std::string image) {
  image = image.substr(0, image.find('@'));
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  if (colon == std::string::npos || (slash != std::string::npos && colon < slash)) return image;
  return image.substr(0, colon);
}

class RunPlanner {
 public:
  RunPlanner(const Json& pod, const Json& container, const RunFiles& files,
             const RunContext& context, const PodConfig& config)
      : pod_(pod),
        container_(container),
        files_(files),
        context_(context),
        config_(config),
        program_("container " + Text(container, "name")) {}

  absl::StatusOr<ContainerRun> Plan();

 private:
  absl::Status CheckSupported() const;
  absl::Status PlanEnvironment();
  absl::Status AddEnvFrom(const Json& source);
  absl::Status AddEnv(const Json& entry);
  absl::Status AddGpus();
  bool ComputesOnGpus();
  absl::Status PlanMounts();
  absl::Status PlanCommand();
  absl::Status ReplaceMounts();
  void PlanEnding();
  std::string name() const { return Text(container_, "name"); }

  const Json& pod_;
  const Json& container_;
  const RunFiles& files_;
  const RunContext& context_;
  const PodConfig& config_;
  ProgramText program_;
  ContainerRun run_;
};

// What would change how the container behaves and cannot be done here. What only observes it
// (probes) is left out; the node says so in an event.
absl::Status RunPlanner::CheckSupported() const {
  if (!Member(container_, "lifecycle").empty()) {
    return absl::InvalidArgumentError(
        "container " + name() + ": lifecycle hooks are not run by the local cluster; do it in "
        "the command, which gets SIGTERM before its end");
  }
  if (Text(container_, "restartPolicy") == "Always") {
    return absl::InvalidArgumentError(
        "container " + name() + ": an init container with restartPolicy Always (a sidecar) is "
        "not supported by the local cluster; put it under containers");
  }
  return absl::OkStatus();
}

absl::Status RunPlanner::AddEnvFrom(const Json& source) {
  for (const char* kind : {"configMapRef", "secretRef"}) {
    const Json& ref = Member(source, kind);
    if (ref.is_null()) continue;
    const bool secret = std::string(kind) == "secretRef";
    ASSIGN_OR_RETURN(
        const ConfigData* data,
        config_.Find({secret ? ConfigKind::kSecret : ConfigKind::kConfigMap, Text(ref, "name")},
                     Flag(ref, "optional")));
    if (data == nullptr) continue;
    for (const auto& [key, value] : *data) {
      RETURN_IF_ERROR(program_.SetEnv(Text(source, "prefix") + key, value));
    }
  }
  return absl::OkStatus();
}

absl::Status RunPlanner::AddEnv(const Json& entry) {
  const std::string variable = Text(entry, "name");
  const Json& from = Member(entry, "valueFrom");
  if (from.is_null()) return program_.ExpandEnv(variable, Text(entry, "value"));
  const std::string kind = from.empty() ? "valueFrom" : from.begin().key();
  const Json& ref = Member(from, kind.c_str());
  if (kind == "fieldRef") {
    ASSIGN_OR_RETURN(std::string value, PodField(pod_, Text(ref, "fieldPath")));
    return program_.SetEnv(variable, std::move(value));
  }
  if (kind == "resourceFieldRef") {
    ASSIGN_OR_RETURN(std::string value, ResourceField(pod_, container_, ref, context_.node));
    return program_.SetEnv(variable, std::move(value));
  }
  if (kind == "configMapKeyRef" || kind == "secretKeyRef") {
    const ConfigRef object{
        kind == "secretKeyRef" ? ConfigKind::kSecret : ConfigKind::kConfigMap, Text(ref, "name")};
    ASSIGN_OR_RETURN(auto value, config_.Value(object, Text(ref, "key"), Flag(ref, "optional")));
    return value.has_value() ? program_.SetEnv(variable, *std::move(value)) : absl::OkStatus();
  }
  return absl::InvalidArgumentError("container " + name() + ": env " + variable + ": " + kind +
                                    " is not supported by the local cluster");
}

absl::Status RunPlanner::AddGpus() {
  const std::vector<int> devices = ContainerSlots(pod_, name(), context_.gpus);
  if (devices.empty()) return absl::OkStatus();
  std::string slots;
  for (const int slot : devices) slots += (slots.empty() ? "" : ",") + std::to_string(slot);
  RETURN_IF_ERROR(program_.SetEnv("NVIDIA_VISIBLE_DEVICES", slots));
  RETURN_IF_ERROR(program_.SetEnv("CUDA_VISIBLE_DEVICES", slots));
  // By numbers as NVML gives them; CUDA's own order is by speed.
  RETURN_IF_ERROR(program_.SetEnv("CUDA_DEVICE_ORDER", "PCI_BUS_ID"));
  return ComputesOnGpus() ? program_.SetEnv("TAAS_GPUS", std::to_string(devices.size()))
                          : absl::OkStatus();
}

// The bundled trainer, unless the manifest says otherwise; a parameter server adds on its
// processors.
bool RunPlanner::ComputesOnGpus() {
  if (!context_.real_gpus || !IsTrainerImage(Text(container_, "image"))) return false;
  if (!Texts(Member(container_, "command")).empty()) return false;
  const std::string* const role = program_.FindEnv("TAAS_ROLE");
  return program_.FindEnv("TAAS_GPUS") == nullptr && (role == nullptr || *role != "ps");
}

absl::Status RunPlanner::PlanEnvironment() {
  for (const auto& [name, value] : context_.base_env) {
    RETURN_IF_ERROR(program_.SetEnv(name, value));
  }
  RETURN_IF_ERROR(program_.SetEnv("HOSTNAME", Text(Member(pod_, "metadata"), "name")));
  RETURN_IF_ERROR(program_.SetEnv("TAAS_TERMINATION_LOG", files_.termination_log));
  RETURN_IF_ERROR(program_.SetEnv("TAAS_RUN_DIR", files_.dir));
  for (const Json& source : Elements(container_, "envFrom")) RETURN_IF_ERROR(AddEnvFrom(source));
  for (const Json& entry : Elements(container_, "env")) RETURN_IF_ERROR(AddEnv(entry));
  // Whatever a manifest says: this is how the node finds its processes.
  RETURN_IF_ERROR(program_.SetEnv("TAAS_RUN_DIR", files_.dir));
  return AddGpus();
}

absl::Status RunPlanner::PlanMounts() {
  ASSIGN_OR_RETURN(VolumePlan volumes,
                   VolumePlanner(pod_, container_, context_, config_, program_).Plan());
  run_.spec.mounts = std::move(volumes.mounts);
  run_.dirs = std::move(volumes.dirs);
  run_.files = std::move(volumes.files);
  return absl::OkStatus();
}

absl::Status RunPlanner::PlanCommand() {
  std::vector<std::string> command = Texts(Member(container_, "command"));
  const std::string image = Text(container_, "image");
  if (command.empty()) {
    if (!IsTrainerImage(image)) {
      return absl::InvalidArgumentError(
          "container " + name() + ": image " + image +
          " has no command; the local cluster pulls no images: give a command that exists on "
          "this machine, or run the job on a cluster" +
          (program_.FindEnv("TAAS_TRAINER") == nullptr
               ? ""
               : "; as spec.trainer.image it is not the bundled trainer's image: leave that field "
                 "out"));
    }
    command.push_back(context_.trainer_path);
  }
  const std::vector<std::string> args = Texts(Member(container_, "args"));
  command.insert(command.end(), args.begin(), args.end());
  for (const std::string& word : command) RETURN_IF_ERROR(program_.AddWord(word));
  run_.spec.argv = program_.words();
  const std::string cwd = Text(container_, "workingDir");
  if (!cwd.empty()) run_.spec.cwd = cwd;
  return absl::OkStatus();
}

// For machines that refuse mount namespaces.
absl::Status RunPlanner::ReplaceMounts() {
  if (context_.sandbox || run_.spec.mounts.empty()) return absl::OkStatus();
  if (!IsTrainerImage(Text(container_, "image"))) {
    return absl::InvalidArgumentError(
        "container " + name() +
        ": this machine refuses mount namespaces (bubblewrap), so volumes reach the bundled "
        "trainer only, by translated paths; an image of your own cannot have volumes here");
  }
  std::string* trainer = program_.FindEnv("TAAS_TRAINER");
  if (trainer != nullptr) *trainer = TranslatePaths(*trainer, run_.spec.mounts);
  // Those of a command such as `eval --checkpoint /out`.
  for (size_t i = 1; i < run_.spec.argv.size(); ++i) {
    run_.spec.argv[i] = TranslatePath(run_.spec.argv[i], run_.spec.mounts);
  }
  run_.spec.mounts.clear();
  return absl::OkStatus();
}

void RunPlanner::PlanEnding() {
  const int64_t grace = Whole(Member(pod_, "spec"), "terminationGracePeriodSeconds",
                              kDefaultGraceSeconds);
  run_.spec.grace = std::chrono::seconds(std::clamp<int64_t>(grace, 0, kGraceSecondsMax));
  run_.spec.message_from_log =
      Text(container_, "terminationMessagePolicy") == "FallbackToLogsOnError";
  run_.spec.owner_lock = context_.owner_lock;
  run_.spec.memory_bytes_max =
      AmountMilli(Member(Member(container_, "resources"), "limits"), "memory") / 1000;
}

absl::StatusOr<ContainerRun> RunPlanner::Plan() {
  RETURN_IF_ERROR(CheckSupported());
  RETURN_IF_ERROR(PlanEnvironment());
  RETURN_IF_ERROR(PlanMounts());
  RETURN_IF_ERROR(PlanCommand());
  RETURN_IF_ERROR(ReplaceMounts());
  run_.spec.env = program_.Environment();
  PlanEnding();
  return std::move(run_);
}

void TranslateStrings(const std::vector<RunMount>& mounts, Json* value) {
  if (value->is_structured()) {
    for (Json& child : *value) TranslateStrings(mounts, &child);
    return;
  }
  if (value->is_string()) *value = TranslatePath(value->get<std::string>(), mounts);
}

}  // namespace

absl::StatusOr<ContainerRun> PlanRun(const Json& pod, const std::string& container,
                                     const RunFiles& files, const RunContext& context,
                                     const PodConfig& config) {
  const Json* found = FindContainer(pod, container);
  if (found == nullptr) {
    return absl::InvalidArgumentError("the pod has no container " + container);
  }
  return RunPlanner(pod, *found, files, context, config).Plan();
}

const Json* FindContainer(const Json& pod, const std::string& name) {
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& candidate : Elements(Member(pod, "spec"), list)) {
      if (Text(candidate, "name") == name) return &candidate;
    }
  }
  return nullptr;
}

bool IsTrainerImage(const std::string& image) {
  const std::string name = WithoutTag(image);
  const std::string trainer = WithoutTag(std::string(kDefaultTrainerImage));
  return name == trainer || name == trainer + "-cuda";
}

std::string ImageNote(const Json& container) {
  const std::string image = Text(container, "image");
  // Without a command it is refused in other words.
  if (IsTrainerImage(image) || Texts(Member(container, "command")).empty()) return "";
  return "image \"" + image + "\" is not pulled: the command of container " +
         Text(container, "name") + " runs with the programs of this machine";
}

std::string TagNote(const Json& container) {
  const std::string image = Text(container, "image");
  if (!IsTrainerImage(image)) return "";
  const std::string tag = image.substr(WithoutTag(image).size());
  const std::string trainer(kDefaultTrainerImage);
  if (tag.empty() || tag == ":latest" || tag == trainer.substr(WithoutTag(trainer).size())) {
    return "";
  }
  return "image \"" + image + "\" is not pulled: whatever its tag, the trainer's image means the "
         "program beside taas, which is that of " + trainer;
}

std::string TranslatePath(const std::string& text, const std::vector<RunMount>& mounts) {
  const RunMount* best = nullptr;  // The innermost mount point decides, as it would when mounted.
  for (const RunMount& mount : mounts) {
    const bool inside = text == mount.target || text.rfind(mount.target + "/", 0) == 0;
    if (inside && (best == nullptr || mount.target.size() > best->target.size())) best = &mount;
  }
  return best == nullptr ? text : best->source + text.substr(best->target.size());
}

std::string TranslatePaths(const std::string& json, const std::vector<RunMount>& mounts) {
  Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return json;
  TranslateStrings(mounts, &value);
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace taas::localkube
