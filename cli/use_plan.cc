#include "cli/use_plan.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cli/job_facts.h"
#include "cli/tfjob_trainer.h"
#include "operator/api/dialect.h"
#include "operator/base/status.h"
#include "operator/plan/mounted_path.h"
#include "operator/plan/use_pod.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

// Of a key of a ConfigMap.
constexpr size_t kKeyMax = 253;

void AddEvalFlags(Command& verb, UseFlags* flags) {
  verb.AddOption("-o,--output", &flags->output, "text or json (default: text)")
      .OneOf({"text", "json"});
  Option input = verb.AddOption("--input", &flags->input,
                                "Examples in the format of the training's data: a file of at most "
                                "1 MiB here, or - for standard input (default: data.test)");
  verb.AddOption("--input-path", &flags->input_path, "Such examples: a path in the pod")
      .Excludes(input);
  verb.AddOption("--labels-path", &flags->labels_path,
                 "Labels of --input-path, of the formats idx and raw: a path in the pod")
      .Excludes(input);
}
Words EvalArguments(const UseFlags& flags, const std::string& input) {
  Words words;
  if (!flags.output.empty()) words = {"--output", flags.output};
  if (!input.empty()) words.insert(words.end(), {"--input", input});
  if (!flags.labels_path.empty()) words.insert(words.end(), {"--labels", flags.labels_path});
  return words;
}

void AddPredictFlags(Command& verb, UseFlags* flags) {
  Option input = verb.AddOption("--input", &flags->input,
                                "Examples: a file of at most 1 MiB here, or - for standard input "
                                "(default: those of data.test)");
  verb.AddOption("--input-path", &flags->input_path, "Examples: a path in the pod, as in /data/x")
      .Excludes(input);
}
Words PredictArguments(const UseFlags&, const std::string& input) {
  return input.empty() ? Words() : Words{"--input", input};
}

void AddExportFlags(Command& verb, UseFlags* flags) {
  verb.AddOption("--format", &flags->format, "savedModel or safetensors")
      .OneOf({"savedModel", "safetensors"})
      .Required();
  verb.AddOption("--to", &flags->to, "Path in the pod, on a volume of the job that stays")
      .Required();
  verb.AddFlag("--bfloat16", &flags->bfloat16, "Half as large; of safetensors");
}
Words ExportArguments(const UseFlags& flags, const std::string&) {
  Words words = {"--format", flags.format, "--to", flags.to};
  if (flags.bfloat16) words.push_back("--bfloat16");
  return words;
}

void AddGenerateFlags(Command& verb, UseFlags* flags) {
  Option prompt = verb.AddOption("--prompt", &flags->prompt, "Text to continue");
  Option input = verb.AddOption("--input", &flags->input,
                                "Text to continue: a file of at most 1 MiB here, or - for standard "
                                "input");
  input.Excludes(prompt);
  verb.AddOption("--input-path", &flags->input_path, "Text to continue: a path in the pod")
      .Excludes(input)
      .Excludes(prompt);
  verb.AddOption("--length", &flags->length, "Tokens to generate (default: 200)").Positive();
  verb.AddOption("--temperature", &flags->temperature,
                 "Divisor of the logits; 0 always takes the most likely token (default: 1)")
      .NonNegative();
  verb.AddOption("--top-k", &flags->top_k,
                 "Sample from the K most likely tokens only (default: from all)")
      .NonNegative();
  verb.AddOption("--seed", &flags->seed, "The same seed gives the same text (default: 0)")
      .NonNegative();
  verb.AddOption("--count", &flags->count, "Number of texts (default: 1)").Positive();
  verb.AddOption("-o,--output", &flags->output, "text or json (default: text)")
      .OneOf({"text", "json"});
}
Words GenerateArguments(const UseFlags& flags, const std::string& input) {
  Words words = {"--input", input};
  const auto add = [&words](const char* name, const auto& value) {
    if (value.has_value()) words.insert(words.end(), {name, absl::StrCat(*value)});
  };
  add("--length", flags.length);
  add("--temperature", flags.temperature);
  add("--top-k", flags.top_k);
  add("--seed", flags.seed);
  add("--count", flags.count);
  if (!flags.output.empty()) words.insert(words.end(), {"--output", flags.output});
  return words;
}
std::string MissingOfGenerate(const UseFlags& flags) {
  const bool any = !flags.prompt.empty() || !flags.input.empty() || !flags.input_path.empty();
  return any ? "" : "--prompt TEXT, --input FILE or --input-path PATH is required: the text to "
                    "continue";
}

constexpr UseVerb kVerbs[] = {
    {"eval", "Print loss and accuracy of a job's trained model over its test data", AddEvalFlags,
     EvalArguments},
    {"predict", "Print what a job's trained model says of examples, a line of JSON each",
     AddPredictFlags, PredictArguments},
    {"generate", "Print a text of a job's trained model of texts", AddGenerateFlags,
     GenerateArguments, MissingOfGenerate},
    {"export", "Write a job's trained model for other programs, onto a volume of the job",
     AddExportFlags, ExportArguments},
};

std::string Shown(const Job& job) { return "job " + job.meta.ns + "/" + job.meta.name; }

// "checkpoints in /out (spec.trainer.checkpoint.dir)"
struct Wanted {
  std::string what;
  std::string path;
};

// The mounts that outlive the pod, for who chose another path.
std::string PlacesThatStay(const json& pod, const std::string& container) {
  std::string out;
  for (const json& mount : pod["spec"]["containers"][0].value("volumeMounts", json::array())) {
    const std::string path = mount.value("mountPath", "");
    const auto at = FindMountedPath(pod, container, path);
    if (!at.has_value() || at->read_only || at->ends_with_pod) continue;
    out += (out.empty() ? "" : ", ") + path;
  }
  return out;
}

// What ends with a pod is not there any more, and another pod would not see it.
absl::Status CheckStays(const Job& job, const json& pod, const Wanted& wanted, bool local) {
  const auto at = FindMountedPath(pod, UseContainer(pod), wanted.path);
  if (at.has_value() && !at->ends_with_pod) return absl::OkStatus();
  // All pods of a local cluster see the machine's own directories.
  if (local && !at.has_value() && wanted.path.starts_with('/')) return absl::OkStatus();
  const std::string why =
      at.has_value() ? "volume " + at->volume + " ends with its pod" : "it is on no volume";
  return absl::FailedPreconditionError(
      Shown(job) + ": " + wanted.what + " " + wanted.path + " ended with the pod that wrote there, "
      "since " + why + "; put it on a persistentVolumeClaim (" + std::string(VolumesField(job)) +
      ") and train again");
}

absl::Status CheckTarget(const Job& job, const json& pod, const std::string& to) {
  if (to.empty()) return absl::OkStatus();
  const std::string container = UseContainer(pod);
  const auto at = FindMountedPath(pod, container, to);
  if (at.has_value() && !at->ends_with_pod && !at->read_only) return absl::OkStatus();
  std::string why = "is on no volume of the job, so what is written there would end with the pod";
  if (at.has_value()) {
    why = "is on volume " + at->volume +
          (at->read_only ? ", which is mounted read-only" : ", which ends with the pod");
  }
  const std::string places = PlacesThatStay(pod, container);
  return absl::InvalidArgumentError(
      "--to " + to + " " + why + "; " +
      (places.empty() ? Shown(job) + " has no volume that stays and can be written to"
                      : "choose a path in " + places));
}

std::string ConfigMapJson(const Job& job, const UseVerb& verb, const std::string& name,
                          const UseInput& input) {
  const json map = {{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", UseMetadata(job, name, verb.name)},
                    {"immutable", true},
                    {"binaryData", {{input.name, absl::Base64Escape(input.bytes)}}}};
  return map.dump();
}

}  // namespace

std::span<const UseVerb> UseVerbs() { return kVerbs; }

absl::StatusOr<UseInput> InputOf(const std::string& path, std::string bytes) {
  if (bytes.size() > kUseInputBytesMax) {
    return absl::InvalidArgumentError(
        "--input " + path + ": " + std::to_string(bytes.size()) + " bytes are more than the " +
        std::to_string(kUseInputBytesMax) +
        " that a ConfigMap takes to the pod; put the file on a volume of the job and name it there "
        "with --input-path");
  }
  std::string name = path == "-" ? "examples" : path.substr(path.rfind('/') + 1);
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; },
      '_');
  if (name.empty() || name.starts_with(".") || name.size() > kKeyMax) name = "examples";
  return UseInput{.name = std::move(name), .bytes = std::move(bytes)};
}

absl::Status CheckUse(const UseVerb& verb, const SeenJob& job) {
  const std::string command = "taas " + std::string(verb.name);
  if (!job.spec_known) return Annotate(job.unreadable, command + ": " + Shown(job));
  if (!job.spec.bundled_trainer) {
    return absl::FailedPreconditionError(
        Shown(job) + " runs an image of its own, whose checkpoints its own program reads: `" +
        command + "` is for jobs of the bundled trainer (spec.trainer; in the template of a TFJob "
        "TAAS_TRAINER, and no flags); where that is its image all the same, `taas-trainer " +
        verb.name +
        " --checkpoint DIR --config FILE` reads them where the files are");
  }
  if (verb.name == std::string_view("predict") && LearnsTexts(job)) {
    return absl::FailedPreconditionError(
        Shown(job) + " has learned texts, of which it predicts the next token and no class: `taas "
        "generate " + job.meta.name + " --prompt TEXT` goes on from one, `taas eval " +
        job.meta.name + "` tells how well it does");
  }
  if (job.spec.roles.count(UseRole(job)) == 0) {
    return absl::FailedPreconditionError(Shown(job) +
                                         " has neither a chief nor workers, so no trained model");
  }
  return absl::OkStatus();
}

bool LacksImage(const Job& job) {
  if (!job.spec.trainer.image.empty()) return false;
  const absl::StatusOr<json> pod = UsePodJson(job, {});
  return pod.ok() && (*pod)["spec"]["containers"][0].value("image", "").empty();
}

absl::StatusOr<UsePlan> PlanUse(const UseVerb& verb, const Job& job, const UseFlags& flags,
                                const UseFacts& facts) {
  const bool own = flags.checkpoint.empty();
  const Wanted checkpoint{own ? "the checkpoint directory" : "--checkpoint",
                          own ? job.spec.trainer.checkpoint_dir : flags.checkpoint};
  if (checkpoint.path.empty()) {
    return absl::FailedPreconditionError(
        Shown(job) + " keeps no checkpoints, so nothing is left of its model; set " +
        std::string(CheckpointDirField(job)) +
        " to a directory on a persistentVolumeClaim and train again");
  }
  UsePlan plan{.ns = job.meta.ns,
               .name = job.meta.name + "-" + verb.name + "-" + facts.suffix,
               .container = "",
               .pod = "",
               .config_map = ""};
  std::string input = flags.input_path;
  if (facts.input.has_value()) {
    input = std::string(kUseInputDir) + "/" + facts.input->name;
    plan.config_map = ConfigMapJson(job, verb, plan.name, *facts.input);
  }
  Words arguments = {verb.name, "--checkpoint", checkpoint.path};
  const Words more = verb.arguments(flags, input);
  arguments.insert(arguments.end(), more.begin(), more.end());
  ASSIGN_OR_RETURN(json pod,
                   UsePodJson(job, {.name = plan.name,
                                    .use = verb.name,
                                    .arguments = std::move(arguments),
                                    .image = facts.image,
                                    .input_map = plan.config_map.empty() ? "" : plan.name,
                                    .deadline_seconds = facts.deadline_seconds}));
  RETURN_IF_ERROR(CheckStays(job, pod, checkpoint, facts.local));
  RETURN_IF_ERROR(CheckTarget(job, pod, flags.to));
  if (!flags.image.empty()) pod["spec"]["containers"][0]["image"] = flags.image;
  plan.container = UseContainer(pod);
  plan.pod = pod.dump(-1, ' ', false, json::error_handler_t::replace);
  return plan;
}

}  // namespace taas
