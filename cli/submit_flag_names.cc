#include "cli/submit_flag_names.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace taas {
namespace {

// "*" stands for any one part. Of a TFJob are those with runPolicy and tfReplicaSpecs.
struct FlagOfPath {
  const char* path;
  const char* flag;
};
constexpr FlagOfPath kFlags[] = {
    {"metadata.name", "--name"},
    {"metadata.namespace", "--namespace"},
    {"metadata.labels", "--label"},
    {"spec.trainer.image", "--image"},
    {"spec.trainer.model", "--model"},
    {"spec.trainer.model.hidden", "--hidden"},
    {"spec.trainer.data", "--dataset"},
    {"spec.trainer.data.train", "--train-images"},
    {"spec.trainer.data.train.labels", "--train-labels"},
    {"spec.trainer.data.test", "--test-images"},
    {"spec.trainer.data.test.labels", "--test-labels"},
    {"spec.trainer.strategy", "--strategy"},
    {"spec.trainer.strategy.replicasToAggregate", "--replicas-to-aggregate"},
    {"spec.trainer.strategy.backupWorkers", "--backup-workers"},
    {"spec.trainer.optimizer", "--optimizer"},
    {"spec.trainer.optimizer.learningRate", "--learning-rate"},
    {"spec.trainer.batchSize", "--batch-size"},
    {"spec.trainer.maxSteps", "--steps"},
    {"spec.trainer.checkpoint", "--checkpoint-dir"},
    {"spec.trainer.summaries", "--logdir"},
    {"spec.roles", "--workers"},
    {"spec.roles.chief", "--chief"},
    {"spec.roles.ps", "--ps"},
    {"spec.roles.worker", "--workers"},
    {"spec.roles.evaluator", "--evaluator"},
    {"spec.roles.*.gpus", "--gpus"},
    {"spec.roles.*.env", "--env"},
    {"spec.roles.*.restartPolicy", "--restart"},
    {"spec.roles.*.resources.limits.cpu", "--cpu"},
    {"spec.roles.*.resources.requests.cpu", "--cpu"},
    {"spec.roles.*.resources.limits.memory", "--memory"},
    {"spec.roles.*.resources.requests.memory", "--memory"},
    {"spec.roles.*.template.metadata.labels", "--label"},
    {"spec.roles.*.template.metadata.annotations", "--annotation"},
    {"spec.roles.*.template.spec.nodeSelector", "--selector"},
    {"spec.roles.*.template.spec.tolerations", "--toleration"},
    {"spec.roles.*.template.spec.priorityClassName", "--priority"},
    {"spec.roles.*.template.spec.imagePullSecrets", "--image-pull-secret"},
    {"spec.roles.*.template.spec.containers.image", "--image"},
    {"spec.roles.*.template.spec.containers.workingDir", "--working-dir"},
    {"spec.volumes", "--data"},
    {"spec.suspend", "--suspend"},
    {"spec.cleanPodPolicy", "--clean-task-policy"},
    {"spec.backoffLimit", "--retry"},
    {"spec.activeDeadlineSeconds", "--running-timeout"},
    {"spec.pendingDeadlineSeconds", "--starting-timeout"},
    {"spec.ttlSecondsAfterFinished", "--ttl-after-finished"},
    {"spec.restartScope", "--restart-scope"},
    {"spec.successPolicy", "--success-policy"},
    {"spec.runPolicy.suspend", "--suspend"},
    {"spec.runPolicy.cleanPodPolicy", "--clean-task-policy"},
    {"spec.runPolicy.backoffLimit", "--retry"},
    {"spec.runPolicy.activeDeadlineSeconds", "--running-timeout"},
    {"spec.runPolicy.ttlSecondsAfterFinished", "--ttl-after-finished"},
    {"spec.tfReplicaSpecs", "--workers"},
    {"spec.tfReplicaSpecs.PS", "--ps"},
    {"spec.tfReplicaSpecs.Chief", "--chief"},
    {"spec.tfReplicaSpecs.Evaluator", "--evaluator"},
    {"spec.tfReplicaSpecs.*.restartPolicy", "--restart"},
    {"spec.tfReplicaSpecs.*.template.metadata.labels", "--label"},
    {"spec.tfReplicaSpecs.*.template.metadata.annotations", "--annotation"},
    {"spec.tfReplicaSpecs.*.template.spec.volumes", "--data"},
    {"spec.tfReplicaSpecs.*.template.spec.nodeSelector", "--selector"},
    {"spec.tfReplicaSpecs.*.template.spec.tolerations", "--toleration"},
    {"spec.tfReplicaSpecs.*.template.spec.priorityClassName", "--priority"},
    {"spec.tfReplicaSpecs.*.template.spec.imagePullSecrets", "--image-pull-secret"},
    {"spec.tfReplicaSpecs.*.template.spec.containers.image", "--image"},
    {"spec.tfReplicaSpecs.*.template.spec.containers.env", "--env"},
    {"spec.tfReplicaSpecs.*.template.spec.containers.volumeMounts", "--data"},
    {"spec.tfReplicaSpecs.*.template.spec.containers.workingDir", "--working-dir"},
};

// "a.b[0].c" is a, b and c.
std::vector<std::string> Parts(std::string_view path) {
  std::vector<std::string> parts(1);
  bool in_index = false;
  for (const char c : path) {
    if (c == '[') in_index = true;
    if (c == '.' && !in_index) parts.emplace_back();
    if (c != '.' && !in_index) parts.back() += c;
    if (c == ']') in_index = false;
  }
  return parts;
}

bool Leads(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  if (pattern.size() > path.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != "*" && pattern[i] != path[i]) return false;
  }
  return true;
}

// The words of a server say "Invalid value: "integer": spec.x in body must be …": the value's
// type and the path are nothing that who wrote a flag has seen.
std::string PlainWords(const FieldError& error, const std::string& flag) {
  std::string text = error.message;
  const auto drop = [&text](const std::string& begin) {
    const bool begins = text.starts_with(begin);
    if (begins) text.erase(0, begin.size());
    return begins;
  };
  if (text == "Required value") return "is needed";
  if (drop("Required value: ")) return text;
  if (drop("Invalid value: ")) {
    for (const char* type : {"object", "array", "string", "integer", "number", "boolean", "null"}) {
      if (drop("\"" + std::string(type) + "\": ")) break;
    }
  }
  for (size_t at = text.find(error.path + " in body "); at != std::string::npos;) {
    text.erase(at, error.path.size() + std::string(" in body ").size());
    at = text.find(error.path + " in body ");
  }
  for (size_t at = text.find(error.path); at != std::string::npos; at = text.find(error.path)) {
    text.replace(at, error.path.size(), flag);
  }
  return text;
}

}  // namespace

std::string FlagOf(std::string_view path) {
  const std::vector<std::string> parts = Parts(path);
  std::string flag;
  size_t most = 0;
  for (const FlagOfPath& entry : kFlags) {
    const std::vector<std::string> pattern = Parts(entry.path);
    if (pattern.size() <= most || !Leads(pattern, parts)) continue;
    most = pattern.size();
    flag = entry.flag;
  }
  return flag;
}

std::string FormatFlagErrors(const std::vector<FieldError>& errors) {
  std::string out;
  std::vector<std::string> lines;
  for (const FieldError& error : errors) {
    const std::string flag = IsDecodingError(error) ? "" : FlagOf(error.path);
    std::string line =
        flag.empty() ? FormatFieldError(error) : flag + ": " + PlainWords(error, flag);
    if (!flag.empty() && !error.hint.empty()) line += " (" + error.hint + ")";
    // One flag may stand for fields of several roles.
    if (std::find(lines.begin(), lines.end(), line) != lines.end()) continue;
    out += (out.empty() ? "" : "\n") + line;
    lines.push_back(std::move(line));
  }
  return out;
}

}  // namespace taas
