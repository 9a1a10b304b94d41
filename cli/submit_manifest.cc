#include "cli/submit_manifest.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "cli/submit_flag_names.h"
#include "operator/api/defaults.h"
#include "operator/api/dialect.h"
#include "operator/api/manifest.h"
#include "operator/api/quantity.h"
#include "operator/api/validation.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kGpuResource[] = "nvidia.com/gpu";
constexpr Role kRoles[] = {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator};

absl::Status BadFlag(const std::string& flag, const std::string& value, const std::string& want) {
  return absl::InvalidArgumentError("--" + flag + " " + value + ": " + want);
}

// "a=b" texts as an object.
absl::StatusOr<Json> Pairs(const std::string& flag, const std::vector<std::string>& texts) {
  Json out = Json::object();
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return BadFlag(flag, text, "write it as NAME=VALUE");
    }
    out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

// The value of --set, read as YAML: 3 is a number, [a, b] a list, "3" a text.
absl::StatusOr<Json> YamlValue(const std::string& flag, const std::string& text) {
  const absl::StatusOr<std::vector<std::string>> documents = ManifestDocuments("v: " + text + "\n");
  if (!documents.ok() || documents->size() != 1) return BadFlag(flag, text, "is not YAML");
  return Json::parse(documents->front())["v"];
}

struct Mount {
  std::string name;
  std::string path;
  bool read_only = false;
  Json source;
};

absl::StatusOr<Mount> ReadMount(const std::string& flag, const std::string& text) {
  std::string rest = text;
  Mount mount;
  if (rest.size() > 3 && rest.compare(rest.size() - 3, 3, ":ro") == 0) {
    mount.read_only = true;
    rest.resize(rest.size() - 3);
  }
  const size_t colon = rest.find(':');
  if (colon == 0 || colon == std::string::npos || colon + 1 == rest.size() ||
      rest[colon + 1] != '/') {
    return BadFlag(flag, text, "write it as SOURCE:/path, with :ro behind it to only read");
  }
  mount.name = rest.substr(0, colon);
  mount.path = rest.substr(colon + 1);
  return mount;
}

absl::StatusOr<std::vector<Mount>> Mounts(const SubmitFlags& flags) {
  std::vector<Mount> mounts;
  for (const std::string& text : flags.data) {
    ASSIGN_OR_RETURN(Mount mount, ReadMount("data", text));
    mount.source = {{"persistentVolumeClaim", {{"claimName", mount.name}}}};
    mounts.push_back(std::move(mount));
  }
  for (const std::string& text : flags.data_dirs) {
    ASSIGN_OR_RETURN(Mount mount, ReadMount("data-dir", text));
    mount.source = {{"hostPath", {{"path", mount.name}}}};
    mount.name = "data-dir-" + std::to_string(mounts.size());
    mounts.push_back(std::move(mount));
  }
  if (!flags.share_memory.empty()) {
    mounts.push_back(
        {"shared-memory", "/dev/shm", false,
         {{"emptyDir", {{"medium", "Memory"}, {"sizeLimit", flags.share_memory}}}}});
  }
  return mounts;
}

Json Env(const Json& pairs) {
  Json env = Json::array();
  for (const auto& [name, value] : pairs.items()) {
    env.push_back({{"name", name}, {"value", value}});
  }
  return env;
}

int GpusOf(const SubmitFlags& flags, Role role) {
  const RoleFlags& own = flags.roles[static_cast<size_t>(role)];
  if (own.gpus >= 0) return own.gpus;
  return role == Role::kPs || role == Role::kEvaluator ? 0 : flags.gpus;
}

// Here, because the schema tells of a pattern of 80 characters, once for requests and once for
// limits.
absl::Status CheckAmounts(const SubmitFlags& flags) {
  const auto check = [](const std::string& flag, const std::string& text) {
    if (text.empty() || QuantityMilli(text).has_value()) return absl::OkStatus();
    return BadFlag(flag, text, "is no amount; write it as 500m, 2 or 4Gi");
  };
  RETURN_IF_ERROR(check("cpu", flags.cpu));
  RETURN_IF_ERROR(check("memory", flags.memory));
  RETURN_IF_ERROR(check("share-memory", flags.share_memory));
  for (const Role role : kRoles) {
    const RoleFlags& own = flags.roles[static_cast<size_t>(role)];
    const std::string name(RoleName(role));
    RETURN_IF_ERROR(check(name + "-cpu", own.cpu));
    RETURN_IF_ERROR(check(name + "-memory", own.memory));
  }
  return absl::OkStatus();
}

// What a role may use: both requests and limits, as arena has it.
Json Resources(const SubmitFlags& flags, Role role) {
  const RoleFlags& own = flags.roles[static_cast<size_t>(role)];
  const std::string& cpu = own.cpu.empty() ? flags.cpu : own.cpu;
  const std::string& memory = own.memory.empty() ? flags.memory : own.memory;
  Json amounts = Json::object();
  if (!cpu.empty()) amounts["cpu"] = cpu;
  if (!memory.empty()) amounts["memory"] = memory;
  if (flags.kind == JobKind::kTfJob && GpusOf(flags, role) > 0) {
    amounts[kGpuResource] = GpusOf(flags, role);
  }
  if (amounts.empty()) return Json();
  return {{"requests", amounts}, {"limits", amounts}};
}

// What follows "--", or one text for a shell. A single word with blanks is what users of arena
// write in place of an argv.
Json Command(const SubmitFlags& flags) {
  const bool one_text =
      flags.command.size() == 1 && flags.command[0].find(' ') != std::string::npos;
  if (flags.shell.empty() && !one_text) return flags.command;
  std::string text;
  for (const std::string& word : flags.command) text += (text.empty() ? "" : " ") + word;
  return {flags.shell.empty() ? "sh" : flags.shell, "-c", text};
}

absl::StatusOr<Json> Tolerations(const SubmitFlags& flags) {
  Json out = Json::array();
  for (const std::string& text : flags.tolerations) {
    const size_t equals = text.find('=');
    if (text == "all") {
      out.push_back({{"operator", "Exists"}});
    } else if (equals == std::string::npos) {
      out.push_back({{"key", text}, {"operator", "Exists"}});
    } else {
      out.push_back({{"key", text.substr(0, equals)}, {"value", text.substr(equals + 1)}});
    }
  }
  return out;
}

// What of a pod's spec the flags describe beside its container.
absl::StatusOr<Json> PodParts(const SubmitFlags& flags, Role role) {
  Json spec = Json::object();
  std::vector<std::string> selectors = flags.selectors;
  const RoleFlags& own = flags.roles[static_cast<size_t>(role)];
  selectors.insert(selectors.end(), own.selectors.begin(), own.selectors.end());
  ASSIGN_OR_RETURN(const Json node_selector, Pairs("selector", selectors));
  if (!node_selector.empty()) spec["nodeSelector"] = node_selector;
  ASSIGN_OR_RETURN(const Json tolerations, Tolerations(flags));
  if (!tolerations.empty()) spec["tolerations"] = tolerations;
  if (!flags.priority.empty()) spec["priorityClassName"] = flags.priority;
  for (const std::string& secret : flags.pull_secrets) {
    spec["imagePullSecrets"].push_back({{"name", secret}});
  }
  return spec;
}

absl::StatusOr<Json> Container(const SubmitFlags& flags, Role role) {
  const RoleFlags& own = flags.roles[static_cast<size_t>(role)];
  const std::string& image = own.image.empty() ? flags.image : own.image;
  if (image.empty()) {
    return absl::InvalidArgumentError(
        "--image is needed, or --" + std::string(RoleName(role)) +
        "-image; or --model, which trains with the bundled trainer");
  }
  Json container = {{"name", DialectOf(flags.kind).container}, {"image", image}};
  // As of `docker run`: what begins with a dash is for the image's own program.
  const bool only_flags = !flags.command.empty() && flags.command[0].starts_with("-");
  if (only_flags) {
    container["args"] = flags.command;
  } else if (!flags.command.empty()) {
    container["command"] = Command(flags);
  }
  if (!flags.working_dir.empty()) container["workingDir"] = flags.working_dir;
  if (!flags.pull_policy.empty()) container["imagePullPolicy"] = flags.pull_policy;
  return container;
}

absl::StatusOr<Json> TemplateMeta(const SubmitFlags& flags) {
  Json meta = Json::object();
  ASSIGN_OR_RETURN(const Json labels, Pairs("label", flags.labels));
  ASSIGN_OR_RETURN(const Json annotations, Pairs("annotation", flags.annotations));
  if (!labels.empty()) meta["labels"] = labels;
  if (!annotations.empty()) meta["annotations"] = annotations;
  return meta;
}

absl::StatusOr<Json> TrainingJobRole(const SubmitFlags& flags, Role role, bool bundled) {
  Json out = {{"replicas", flags.roles[static_cast<size_t>(role)].replicas}};
  if (!flags.restart.empty()) out["restartPolicy"] = flags.restart;
  if (GpusOf(flags, role) > 0) out["gpus"] = GpusOf(flags, role);
  const Json resources = Resources(flags, role);
  if (!resources.is_null()) out["resources"] = resources;
  ASSIGN_OR_RETURN(const Json env, Pairs("env", flags.env));
  if (!env.empty()) out["env"] = Env(env);
  ASSIGN_OR_RETURN(const Json meta, TemplateMeta(flags));
  ASSIGN_OR_RETURN(Json spec, PodParts(flags, role));
  if (!bundled) {
    ASSIGN_OR_RETURN(Json container, Container(flags, role));
    spec["containers"] = Json::array({std::move(container)});
  }
  if (!meta.empty()) out["template"]["metadata"] = meta;
  // A template has a spec, be it empty.
  if (!meta.empty() || !spec.empty()) out["template"]["spec"] = spec;
  return out;
}

absl::StatusOr<Json> TfJobRole(const SubmitFlags& flags, Role role,
                               const std::vector<Mount>& mounts) {
  Json out = {{"replicas", flags.roles[static_cast<size_t>(role)].replicas}};
  if (!flags.restart.empty()) out["restartPolicy"] = flags.restart;
  ASSIGN_OR_RETURN(Json container, Container(flags, role));
  const Json resources = Resources(flags, role);
  if (!resources.is_null()) container["resources"] = resources;
  ASSIGN_OR_RETURN(const Json env, Pairs("env", flags.env));
  if (!env.empty()) container["env"] = Env(env);
  ASSIGN_OR_RETURN(Json spec, PodParts(flags, role));
  for (const Mount& mount : mounts) {
    Json volume = {{"name", mount.name}};
    volume.update(mount.source);
    spec["volumes"].push_back(volume);
    Json at = {{"name", mount.name}, {"mountPath", mount.path}};
    if (mount.read_only) at["readOnly"] = true;
    container["volumeMounts"].push_back(at);
  }
  spec["containers"] = Json::array({std::move(container)});
  ASSIGN_OR_RETURN(const Json meta, TemplateMeta(flags));
  if (!meta.empty()) out["template"]["metadata"] = meta;
  out["template"]["spec"] = spec;
  return out;
}

absl::StatusOr<Json> Trainer(const SubmitFlags& flags) {
  const TrainerFlags& from = flags.trainer;
  Json out = Json::object();
  if (!flags.image.empty()) out["image"] = flags.image;
  out["model"]["name"] = from.model;
  if (!from.hidden.empty()) {
    ASSIGN_OR_RETURN(out["model"]["hidden"], YamlValue("hidden", "[" + from.hidden + "]"));
  }
  const auto put_file = [&out](const char* set, const char* what, const std::string& path) {
    if (!path.empty()) out["data"][set][what] = path;
  };
  put_file("train", "images", from.train_images);
  put_file("train", "labels", from.train_labels);
  put_file("test", "images", from.test_images);
  put_file("test", "labels", from.test_labels);
  if (!from.dataset.empty()) {
    out["data"]["format"] = from.dataset;
  } else if (out.contains("data")) {
    out["data"]["format"] = "idx";
  }
  const std::string& strategy = from.strategy;
  if (strategy == "local") out["strategy"]["type"] = "Local";
  if (strategy == "allreduce") out["strategy"]["type"] = "AllReduce";
  if (strategy == "async" || strategy == "sync") {
    out["strategy"]["type"] = "ParameterServer";
    out["strategy"]["mode"] = strategy == "sync" ? "Sync" : "Async";
  }
  if (from.replicas_to_aggregate >= 0) {
    out["strategy"]["replicasToAggregate"] = from.replicas_to_aggregate;
  }
  if (!from.backup_workers.empty()) {
    ASSIGN_OR_RETURN(out["strategy"]["backupWorkers"],
                     YamlValue("backup-workers", from.backup_workers));
  }
  if (!from.optimizer.empty()) out["optimizer"]["name"] = from.optimizer;
  if (from.learning_rate >= 0) out["optimizer"]["learningRate"] = from.learning_rate;
  if (from.batch_size >= 0) out["batchSize"] = from.batch_size;
  if (from.steps >= 0) out["maxSteps"] = from.steps;
  if (!from.checkpoint_dir.empty()) out["checkpoint"]["dir"] = from.checkpoint_dir;
  if (!from.summaries_dir.empty()) out["summaries"]["dir"] = from.summaries_dir;
  return out;
}

// Fields of batch/v1 and TFJob that both kinds have, in `at`: the spec, or its runPolicy.
void AddPolicies(const SubmitFlags& flags, Json* at) {
  if (flags.suspend) (*at)["suspend"] = true;
  if (!flags.clean_task_policy.empty()) (*at)["cleanPodPolicy"] = flags.clean_task_policy;
  if (flags.retry >= 0) (*at)["backoffLimit"] = flags.retry;
  if (flags.running_timeout.has_value()) {
    (*at)["activeDeadlineSeconds"] = flags.running_timeout->count();
  }
  if (flags.ttl.has_value()) (*at)["ttlSecondsAfterFinished"] = flags.ttl->count();
}

absl::StatusOr<Json> TrainingJobSpec(const SubmitFlags& flags) {
  const bool bundled = !flags.trainer.model.empty();
  if (bundled && !flags.command.empty()) {
    return absl::InvalidArgumentError("--model trains with the bundled trainer, which takes no "
                                      "command: leave out one of them");
  }
  Json spec = Json::object();
  if (bundled) {
    ASSIGN_OR_RETURN(spec["trainer"], Trainer(flags));
  }
  for (const Role role : kRoles) {
    if (flags.roles[static_cast<size_t>(role)].replicas <= 0) continue;
    ASSIGN_OR_RETURN(spec["roles"][std::string(RoleName(role))],
                     TrainingJobRole(flags, role, bundled));
  }
  ASSIGN_OR_RETURN(const std::vector<Mount> mounts, Mounts(flags));
  for (const Mount& mount : mounts) {
    Json volume = {{"name", mount.name}, {"mountPath", mount.path}, {"source", mount.source}};
    if (mount.read_only) volume["readOnly"] = true;
    spec["volumes"].push_back(volume);
  }
  AddPolicies(flags, &spec);
  if (flags.starting_timeout.has_value()) {
    spec["pendingDeadlineSeconds"] = flags.starting_timeout->count();
  }
  if (!flags.restart_scope.empty()) spec["restartScope"] = flags.restart_scope;
  if (flags.success_policy == "AllWorkers" || flags.success_policy == "Worker0") {
    spec["successPolicy"] = flags.success_policy;
  }
  return spec;
}

absl::StatusOr<Json> TfJobSpec(const SubmitFlags& flags) {
  const std::pair<const char*, bool> others[] = {
      {"model", !flags.trainer.model.empty()},
      {"starting-timeout", flags.starting_timeout.has_value()},
      {"restart-scope", !flags.restart_scope.empty()},
      {"success-policy Worker0", flags.success_policy == "Worker0"}};
  for (const auto& [flag, given] : others) {
    if (given) {
      return absl::InvalidArgumentError("--" + std::string(flag) +
                                        ": a TFJob has no field for it; use --kind trainingjob");
    }
  }
  Json spec = Json::object();
  AddPolicies(flags, &spec["runPolicy"]);
  // What arena's users expect; the kind's own default keeps all pods.
  if (flags.clean_task_policy.empty()) spec["runPolicy"]["cleanPodPolicy"] = "Running";
  if (flags.success_policy == "AllWorkers") spec["successPolicy"] = "AllWorkers";
  ASSIGN_OR_RETURN(const std::vector<Mount> mounts, Mounts(flags));
  constexpr const char* kKeys[] = {"Chief", "PS", "Worker", "Evaluator"};
  for (const Role role : kRoles) {
    if (flags.roles[static_cast<size_t>(role)].replicas <= 0) continue;
    ASSIGN_OR_RETURN(spec["tfReplicaSpecs"][kKeys[static_cast<size_t>(role)]],
                     TfJobRole(flags, role, mounts));
  }
  return spec;
}

// Sets a.b[0].c, which may begin at the root or in the spec.
absl::Status SetField(const std::string& text, Json* object) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return BadFlag("set", text, "write PATH=VALUE");
  ASSIGN_OR_RETURN(const Json value, YamlValue("set", text.substr(equals + 1)));
  std::string path = text.substr(0, equals);
  if (path.rfind("spec.", 0) != 0 && path.rfind("metadata.", 0) != 0) path = "spec." + path;
  Json* at = object;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find_first_of(".[", begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    const bool is_index = !part.empty() && part.back() == ']';
    size_t index = 0;
    // Beyond the end a list grows by one element at a time, so that no number makes it huge.
    const bool good_index =
        is_index && at->size() < kMaxManifestValues && (at->is_array() || at->is_null()) &&
        std::from_chars(part.data(), part.data() + part.size() - 1, index).ec == std::errc() &&
        index <= at->size();
    if (part.empty() || (is_index && !good_index) ||
        (!is_index && !at->is_object() && !at->is_null())) {
      return BadFlag("set", text, "there is no place \"" + path.substr(0, end) + "\"");
    }
    at = is_index ? &(*at)[index] : &(*at)[part];
    begin = end + 1;
    if (end == path.size()) break;
  }
  *at = value;
  return absl::OkStatus();
}

int64_t Replicas(const Json& object, const std::string& role) {
  const Json::json_pointer at("/spec/roles/" + role + "/replicas");
  return object.contains(at) && object[at].is_number() ? object[at].get<int64_t>() : 0;
}

// The strategy, of which --set may have said something, too, and the roles that it takes.
absl::Status CompleteStrategy(Json* object) {
  const int64_t ps = Replicas(*object, "ps");
  const int64_t training = Replicas(*object, "chief") + Replicas(*object, "worker");
  const std::string count = std::to_string(training) + " training replicas";
  if (training == 0) {
    return absl::InvalidArgumentError("--workers: nothing trains: give --workers N, or --chief");
  }
  const Json::json_pointer at("/spec/trainer/strategy/type");
  if (!object->contains(at)) {
    if (ps > 0) return absl::OkStatus();
    if (training == 1) {
      (*object)[at] = "Local";
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "--ps: there are " + count + " and no parameter servers: give --ps 1, or --strategy "
        "allreduce, which needs none");
  }
  const Json& type = (*object)[at];
  if (type == "ParameterServer" && ps == 0) {
    return absl::InvalidArgumentError(
        "--ps: --strategy async and sync need parameter servers: give --ps 1, or --strategy "
        "allreduce, or with one worker --strategy local");
  }
  if ((type == "Local" || type == "AllReduce") && ps > 0) {
    return absl::InvalidArgumentError(
        "--ps " + std::to_string(ps) + ": --strategy local and allreduce have no parameter "
        "servers: leave out --ps, or give --strategy async");
  }
  if (type == "Local" && training > 1) {
    return absl::InvalidArgumentError(
        "--strategy local trains in one process, and there are " + count +
        ": give --workers 1, or --strategy allreduce");
  }
  return absl::OkStatus();
}

// Of the bundled trainer; says all at once. Made-up examples are learned by any model: who has
// forgotten the data would see an accuracy of 1.
absl::Status CompleteTrainer(Json* object) {
  std::string wrong = FormatFlagErrors(
      ValidateTrainerNames(object->dump(-1, ' ', false, Json::error_handler_t::replace)));
  const auto add = [&wrong](std::string_view line) {
    wrong += wrong.empty() ? "" : "\n";
    wrong += line;
  };
  if (!object->contains(Json::json_pointer("/spec/trainer/data"))) {
    add("--train-images: there is no data to train on: give --train-images and --train-labels, or "
        "--dataset generated for examples that are made up");
  }
  if (const absl::Status status = CompleteStrategy(object); !status.ok()) {
    add(std::string(status.message()));
  }
  return wrong.empty() ? absl::OkStatus() : absl::InvalidArgumentError(wrong);
}

}  // namespace

RoleFlags& RoleOf(SubmitFlags& flags, Role role) { return flags.roles[static_cast<size_t>(role)]; }

absl::StatusOr<std::string> BuildManifest(const SubmitFlags& flags) {
  RETURN_IF_ERROR(CheckAmounts(flags));
  const Dialect& dialect = DialectOf(flags.kind);
  Json object = {{"apiVersion", dialect.group_version}, {"kind", dialect.kind_name}};
  object["metadata"]["name"] = flags.name;
  if (!flags.ns.empty()) object["metadata"]["namespace"] = flags.ns;
  ASSIGN_OR_RETURN(const Json labels, Pairs("label", flags.labels));
  if (!labels.empty()) object["metadata"]["labels"] = labels;
  if (flags.kind == JobKind::kTfJob) {
    ASSIGN_OR_RETURN(object["spec"], TfJobSpec(flags));
  } else {
    ASSIGN_OR_RETURN(object["spec"], TrainingJobSpec(flags));
  }
  for (const std::string& text : flags.set) RETURN_IF_ERROR(SetField(text, &object));
  if (!flags.trainer.model.empty()) {
    RETURN_IF_ERROR(CompleteTrainer(&object));
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<std::string> WithFields(std::string_view json, const std::vector<std::string>& set) {
  Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  for (const std::string& text : set) RETURN_IF_ERROR(SetField(text, &object));
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace taas
