#include "localkube/node/pod_run.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "nlohmann/json.hpp"
#include "operator/api/defaults.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

// The one node's address, and each pod's.
constexpr char kLoopback[] = "127.0.0.1";
constexpr int64_t kDefaultGraceSeconds = 30;

std::string Text(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

const Json& Member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(key);
  return it == object.end() ? kNothing : *it;
}

bool Flag(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_boolean() && value.get<bool>();
}

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

// "metadata.labels['key']": the key; empty for another map.
std::string MapKey(const std::string& path, const std::string& map) {
  const std::string begin = map + "['";
  if (path.rfind(begin, 0) != 0 || path.size() < begin.size() + 2) return "";
  return path.substr(begin.size(), path.size() - begin.size() - 2);
}

absl::StatusOr<std::string> FieldValue(const Json& pod, const std::string& path,
                                       const RunContext& context) {
  const Json& meta = Member(pod, "metadata");
  if (path == "metadata.name") return Text(meta, "name");
  if (path == "metadata.namespace") return Text(meta, "namespace");
  if (path == "metadata.uid") return Text(meta, "uid");
  if (path == "spec.nodeName") return context.node_name;
  if (path == "spec.serviceAccountName") return Text(Member(pod, "spec"), "serviceAccountName");
  if (path == "status.podIP" || path == "status.hostIP") return std::string(kLoopback);
  for (const char* map : {"labels", "annotations"}) {
    const std::string key = MapKey(path, std::string("metadata.") + map);
    if (!key.empty()) return Text(Member(meta, map), key.c_str());
  }
  return absl::InvalidArgumentError("env fieldRef " + path + ": no such field");
}

class RunPlanner {
 public:
  RunPlanner(const Json& pod, const Json& container, const RunFiles& files,
             const RunContext& context)
      : pod_(pod), container_(container), files_(files), context_(context) {}

  absl::StatusOr<ContainerRun> Plan();

 private:
  absl::Status PlanEnvironment();
  absl::StatusOr<std::string> EnvValue(const Json& entry) const;
  absl::Status PlanMounts();
  absl::StatusOr<std::string> VolumeSource(const Json& volume, bool* read_only);
  absl::Status PlanCommand();
  absl::Status ReplaceMounts();
  void SetEnv(const std::string& name, const std::string& value);
  std::string name() const { return Text(container_, "name"); }

  const Json& pod_;
  const Json& container_;
  const RunFiles& files_;
  const RunContext& context_;
  std::vector<std::string> env_order_;
  std::map<std::string, std::string> env_;
  ContainerRun run_;
};

void RunPlanner::SetEnv(const std::string& name, const std::string& value) {
  if (env_.count(name) == 0) env_order_.push_back(name);
  env_[name] = value;
}

absl::StatusOr<std::string> RunPlanner::EnvValue(const Json& entry) const {
  const Json& from = Member(entry, "valueFrom");
  if (from.is_null()) return ExpandVariables(Text(entry, "value"), env_);
  const Json& field = Member(from, "fieldRef");
  if (!field.is_null()) return FieldValue(pod_, Text(field, "fieldPath"), context_);
  const std::string kind = from.empty() ? "valueFrom" : from.begin().key();
  return absl::InvalidArgumentError(
      "container " + name() + ": env " + Text(entry, "name") + ": " + kind +
      " is not supported by the local cluster; use value or fieldRef");
}

absl::Status RunPlanner::PlanEnvironment() {
  for (const auto& [name, value] : context_.base_env) SetEnv(name, value);
  SetEnv("HOSTNAME", Text(Member(pod_, "metadata"), "name"));
  SetEnv("TAAS_TERMINATION_LOG", files_.termination_log);
  SetEnv("TAAS_RUN_DIR", files_.dir);
  if (!Member(container_, "envFrom").empty()) {
    return absl::InvalidArgumentError("container " + name() +
                                      ": envFrom is not supported by the local cluster; use env");
  }
  for (const Json& entry : Member(container_, "env")) {
    ASSIGN_OR_RETURN(const std::string value, EnvValue(entry));
    SetEnv(Text(entry, "name"), value);
  }
  if (!context_.gpus.empty()) {
    std::string list;
    for (const int gpu : context_.gpus) list += (list.empty() ? "" : ",") + std::to_string(gpu);
    SetEnv("NVIDIA_VISIBLE_DEVICES", list);
    SetEnv("CUDA_VISIBLE_DEVICES", list);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> RunPlanner::VolumeSource(const Json& volume, bool* read_only) {
  const std::string volume_name = Text(volume, "name");
  if (const Json& claim = Member(volume, "persistentVolumeClaim"); !claim.is_null()) {
    const std::string ns = Text(Member(pod_, "metadata"), "namespace");
    const std::string claim_name = Text(claim, "claimName");
    *read_only = Flag(claim, "readOnly");
    for (const std::string& key : {ns + "/" + claim_name, claim_name}) {
      const auto bound = context_.volume_bindings.find(key);
      if (bound != context_.volume_bindings.end()) return bound->second;
    }
    const std::string dir = context_.volumes_dir + "/" + ns + "/" + claim_name;
    run_.dirs.push_back(dir);
    return dir;
  }
  if (const Json& host = Member(volume, "hostPath"); !host.is_null()) {
    const std::string path = Text(host, "path");
    if (Text(host, "type") == "DirectoryOrCreate") run_.dirs.push_back(path);
    return path;
  }
  if (volume.contains("emptyDir")) {
    const std::string dir = context_.pod_dir + "/volumes/" + volume_name;
    run_.dirs.push_back(dir);
    return dir;
  }
  std::string kind = "a source";
  for (const auto& [key, value] : volume.items()) {
    if (key != "name") kind = key;
  }
  return absl::InvalidArgumentError("volume " + volume_name + ": " + kind +
                                    " is not supported by the local cluster; use "
                                    "persistentVolumeClaim, hostPath or emptyDir");
}

absl::Status RunPlanner::PlanMounts() {
  const Json& volumes = Member(Member(pod_, "spec"), "volumes");
  for (const Json& mount : Member(container_, "volumeMounts")) {
    const std::string volume_name = Text(mount, "name");
    const auto volume = std::find_if(volumes.begin(), volumes.end(), [&](const Json& candidate) {
      return Text(candidate, "name") == volume_name;
    });
    if (volume == volumes.end()) {
      return absl::InvalidArgumentError("container " + name() + ": volumeMounts names the volume " +
                                        volume_name + ", which spec.volumes does not have");
    }
    RunMount out;
    ASSIGN_OR_RETURN(out.source, VolumeSource(*volume, &out.read_only));
    out.read_only = out.read_only || Flag(mount, "readOnly");
    out.target = Text(mount, "mountPath");
    while (out.target.size() > 1 && out.target.back() == '/') out.target.pop_back();
    const std::string sub_path = Text(mount, "subPath");
    if (!sub_path.empty()) {
      if (sub_path[0] == '/' || ("/" + sub_path + "/").find("/../") != std::string::npos) {
        return absl::InvalidArgumentError("container " + name() + ": subPath " + sub_path +
                                          " must stay inside its volume");
      }
      out.source += "/" + sub_path;
      run_.dirs.push_back(out.source);
    }
    run_.spec.mounts.push_back(std::move(out));
  }
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
          "this machine, or run the job on a cluster");
    }
    command.push_back(context_.trainer_path);
  }
  const std::vector<std::string> args = Texts(Member(container_, "args"));
  command.insert(command.end(), args.begin(), args.end());
  for (std::string& word : command) word = ExpandVariables(word, env_);
  run_.spec.argv = std::move(command);
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
  const auto trainer = env_.find("TAAS_TRAINER");
  if (trainer != env_.end()) trainer->second = TranslatePaths(trainer->second, run_.spec.mounts);
  run_.spec.mounts.clear();
  return absl::OkStatus();
}

absl::StatusOr<ContainerRun> RunPlanner::Plan() {
  RETURN_IF_ERROR(PlanEnvironment());
  RETURN_IF_ERROR(PlanMounts());
  RETURN_IF_ERROR(PlanCommand());
  RETURN_IF_ERROR(ReplaceMounts());
  for (const std::string& name : env_order_) run_.spec.env.push_back(name + "=" + env_[name]);
  const Json& grace = Member(Member(pod_, "spec"), "terminationGracePeriodSeconds");
  run_.spec.grace = std::chrono::seconds(
      grace.is_number_integer() ? grace.get<int64_t>() : kDefaultGraceSeconds);
  run_.spec.message_from_log =
      Text(container_, "terminationMessagePolicy") == "FallbackToLogsOnError";
  run_.spec.owner_lock = context_.owner_lock;
  return std::move(run_);
}

void TranslateStrings(const std::vector<RunMount>& mounts, Json* value) {
  if (value->is_structured()) {
    for (Json& child : *value) TranslateStrings(mounts, &child);
    return;
  }
  if (!value->is_string()) return;
  const std::string text = value->get<std::string>();
  const RunMount* best = nullptr;  // The innermost mount point decides, as it would when mounted.
  for (const RunMount& mount : mounts) {
    const bool inside = text == mount.target || text.rfind(mount.target + "/", 0) == 0;
    if (inside && (best == nullptr || mount.target.size() > best->target.size())) best = &mount;
  }
  if (best != nullptr) *value = best->source + text.substr(best->target.size());
}

}  // namespace

absl::StatusOr<ContainerRun> PlanRun(const Json& pod, const std::string& container,
                                     const RunFiles& files, const RunContext& context) {
  const Json& spec = Member(pod, "spec");
  if (!Member(spec, "initContainers").empty()) {
    return absl::InvalidArgumentError("initContainers are not supported by the local cluster");
  }
  for (const Json& candidate : Member(spec, "containers")) {
    if (Text(candidate, "name") != container) continue;
    return RunPlanner(pod, candidate, files, context).Plan();
  }
  return absl::InvalidArgumentError("the pod has no container " + container);
}

bool IsTrainerImage(const std::string& image) {
  return WithoutTag(image) == WithoutTag(std::string(kDefaultTrainerImage));
}

std::string ExpandVariables(const std::string& text,
                            const std::map<std::string, std::string>& variables) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "$$") == 0) {
      out += '$';
      at += 2;
      continue;
    }
    const size_t end = text.compare(at, 2, "$(") == 0 ? text.find(')', at) : std::string::npos;
    if (end != std::string::npos) {
      const auto variable = variables.find(text.substr(at + 2, end - at - 2));
      out += variable != variables.end() ? variable->second : text.substr(at, end + 1 - at);
      at = end + 1;
      continue;
    }
    out += text[at++];
  }
  return out;
}

std::string TranslatePaths(const std::string& json, const std::vector<RunMount>& mounts) {
  Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return json;
  TranslateStrings(mounts, &value);
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace taas::localkube
