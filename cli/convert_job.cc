#include "cli/convert_job.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "nlohmann/json.hpp"
#include "operator/api/defaults.h"

namespace taas {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kTfContainer[] = "tensorflow";
constexpr char kTfPort[] = "tfjob-port";

// Null where there is no such member.
Json Take(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : Json();
}

class Conversion {
 public:
  explicit Conversion(const Json& job) : job_(job) {}

  ConvertedJob Run() {
    out_ = {{"apiVersion", kApiGroupVersion}, {"kind", kTrainingJobKind}};
    const Json meta = Take(job_, "metadata");
    for (const char* key : {"name", "generateName", "namespace", "labels", "annotations"}) {
      const Json value = Take(meta, key);
      if (!value.is_null()) out_["metadata"][key] = value;
    }
    const Json spec = Take(job_, "spec");
    Policies(spec);
    const Json replicas = Take(spec, "tfReplicaSpecs");
    if (replicas.is_object()) {
      for (const auto& [key, role] : replicas.items()) ConvertRole(key, role);
    }
    Network();
    return {out_.dump(-1, ' ', false, Json::error_handler_t::replace), std::move(notes_)};
  }

 private:
  void Note(const std::string& text) { notes_.push_back(text); }

  void Policies(const Json& spec) {
    const Json policy = Take(spec, "runPolicy");
    const auto field = [&](const char* key) {
      const Json own = Take(policy, key);
      return own.is_null() ? Take(spec, key) : own;
    };
    Json& to = out_["spec"];
    to = Json::object();
    for (const char* key : {"suspend", "activeDeadlineSeconds", "ttlSecondsAfterFinished"}) {
      const Json value = field(key);
      if (!value.is_null()) to[key] = value;
    }
    const Json limit = field("backoffLimit");
    if (!limit.is_null()) {
      to["backoffLimit"] = limit;
    } else {
      Note("spec.backoffLimit: a TFJob without one restarts for ever, the TrainingJob at most 6 "
           "times by errors of its own");
    }
    const Json clean = field("cleanPodPolicy");
    to["cleanPodPolicy"] = clean.is_null() ? Json("None") : clean;
    if (Take(spec, "successPolicy") == Json("AllWorkers")) to["successPolicy"] = "AllWorkers";
    for (const char* key : {"schedulingPolicy", "managedBy"}) {
      if (!field(key).is_null()) Note(std::string("spec.runPolicy.") + key + ": left out");
    }
    if (Take(spec, "enableDynamicWorker") == Json(true)) {
      Note("spec.enableDynamicWorker: left out; workers of a TrainingJob can be scaled anyway, and "
           "TF_CONFIG names all of them");
    }
  }

  void ConvertRole(const std::string& key, const Json& from) {
    std::string role = key;
    std::transform(role.begin(), role.end(), role.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (role == "master") {
      Note("spec.tfReplicaSpecs." + key + ": becomes the chief, also in TF_CONFIG");
      role = "chief";
    }
    Json to = Json::object();
    const Json replicas = Take(from, "replicas");
    to["replicas"] = replicas.is_null() ? Json(1) : replicas;
    const Json policy = Take(from, "restartPolicy");
    to["restartPolicy"] = policy.is_null() ? Json("Never") : policy;
    if (policy == Json("ExitCode")) {
      // As training-operator had it: every code from 128 on is retried.
      out_["spec"]["exitCodes"] = {{"preset", "AtLeast128"}};
    }
    to["template"] = Template(key, Take(from, "template"));
    out_["spec"]["roles"][role] = std::move(to);
  }

  Json Template(const std::string& role, Json pod) {
    if (!pod.is_object()) return pod;
    if (pod.contains("metadata") && pod["metadata"].is_object()) {
      pod["metadata"].erase("creationTimestamp");
      if (pod["metadata"].empty()) pod.erase("metadata");
    }
    if (!pod.contains("spec") || !pod["spec"].is_object()) return pod;
    if (pod["spec"].erase("restartPolicy") > 0) {
      Note("spec.tfReplicaSpecs." + role +
           ".template.spec.restartPolicy: left out; the role's restartPolicy counts, as before");
    }
    Json containers = Take(pod["spec"], "containers");
    if (!containers.is_array()) return pod;
    for (Json& container : containers) {
      if (Take(container, "name") != Json(kTfContainer)) continue;
      container["name"] = kTrainerContainer;
      Ports(role, &container);
    }
    pod["spec"]["containers"] = std::move(containers);
    return pod;
  }

  // The TrainingJob declares its port itself; it is one for all roles.
  void Ports(const std::string& role, Json* container) {
    const Json ports = Take(*container, "ports");
    if (!ports.is_array()) return;
    Json rest = Json::array();
    for (const Json& port : ports) {
      if (Take(port, "name") != Json(kTfPort)) {
        rest.push_back(port);
        continue;
      }
      const Json number = Take(port, "containerPort");
      if (port_.is_null()) port_ = number;
      if (number != port_) {
        Note("spec.tfReplicaSpecs." + role + ": port " + number.dump() + " becomes " +
             port_.dump() + ", as in the other roles");
      }
    }
    if (rest.empty()) {
      container->erase("ports");
    } else {
      (*container)["ports"] = rest;
    }
  }

  void Network() {
    if (!port_.is_null() && port_ != Json(kTrainerPort)) out_["spec"]["network"]["port"] = port_;
    // training-operator put the evaluator into everybody's TF_CONFIG.
    const Json roles = Take(out_["spec"], "roles");
    if (roles.is_object() && roles.contains("evaluator")) {
      out_["spec"]["network"]["evaluatorInCluster"] = "All";
    }
  }

  const Json& job_;
  Json out_;
  Json port_;
  std::vector<std::string> notes_;
};

}  // namespace

absl::StatusOr<ConvertedJob> ConvertTfJob(std::string_view json) {
  const Json job = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (Take(job, "kind") != Json("TFJob")) {
    return absl::InvalidArgumentError("convert: the object is no TFJob");
  }
  return Conversion(job).Run();
}

}  // namespace taas
