// `taas submit`: a job from flags or from files, followed to its end.

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/job_manifest.h"
#include "cli/job_ref.h"
#include "cli/job_warnings.h"
#include "cli/logs.h"
#include "cli/read_input.h"
#include "cli/seen_job.h"
#include "cli/submit_flag_names.h"
#include "cli/submit_manifest.h"
#include "cli/verbs.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/api/manifest.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::ordered_json;

struct SubmitCommand {
  ClusterFlags cluster;
  SubmitFlags job;
  std::vector<std::string> files;
  std::string kind = "trainingjob";
  std::string dry_run = "none";
  std::string output;
  std::string running_timeout, starting_timeout, ttl;
  bool chief = false, evaluator = false;
  bool follow = true;
};

struct Manifest {
  JobKind kind = JobKind::kTrainingJob;
  std::string json;
  std::string source;  // For messages.
};

absl::Status CheckManifest(const Manifest& manifest) {
  const std::vector<FieldError> errors = CheckJob(manifest.kind, manifest.json);
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(manifest.source + ": " + FormatFieldErrors(errors));
}

// Of a job that flags describe, in words of the flags.
absl::Status CheckFlags(const Manifest& manifest) {
  const std::vector<FieldError> errors = CheckJob(manifest.kind, manifest.json);
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(FormatFlagErrors(errors));
}

// With what --set says of them.
absl::StatusOr<std::vector<Manifest>> FromFiles(const std::vector<std::string>& paths,
                                                const std::vector<std::string>& set) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, ManifestFiles(paths));
  std::vector<Manifest> manifests;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text, ReadInput(file));
    absl::StatusOr<std::vector<std::string>> documents = ManifestDocuments(text);
    RETURN_IF_ERROR(documents.status()).With(file);
    for (std::string& document : *documents) {
      const ManifestKind kind = KindOf(document);
      if (!kind.job.has_value()) {
        return absl::InvalidArgumentError(file + ": submit takes TrainingJobs and TFJobs, not \"" +
                                          kind.kind + "\"; `kubectl apply` takes every kind");
      }
      if (!set.empty()) {
        ASSIGN_OR_RETURN(document, WithFields(document, set));
      }
      manifests.push_back({*kind.job, std::move(document), file});
    }
  }
  if (manifests.empty()) {
    return absl::InvalidArgumentError(paths.front() + ": there is no job in it");
  }
  return manifests;
}

absl::StatusOr<std::vector<Manifest>> FromFlags(SubmitCommand* command) {
  SubmitFlags& job = command->job;
  job.kind = *JobKindFromName(command->kind);
  job.ns = command->cluster.ns;
  if (command->chief) RoleOf(job, Role::kChief).replicas = 1;
  if (command->evaluator) RoleOf(job, Role::kEvaluator).replicas = 1;
  job.running_timeout = ParseDuration(command->running_timeout);
  job.starting_timeout = ParseDuration(command->starting_timeout);
  job.ttl = ParseDuration(command->ttl);
  ASSIGN_OR_RETURN(std::string json, BuildManifest(job));
  Manifest manifest{job.kind, std::move(json), "job " + job.name};
  RETURN_IF_ERROR(CheckFlags(manifest));
  return std::vector<Manifest>{std::move(manifest)};
}

// Into `ns`, if the manifest names none. Returns the object as the server stored it.
absl::StatusOr<std::string> Create(ApiClient& api, const Manifest& manifest, const std::string& ns,
                                   bool ns_is_given, bool dry_run) {
  Json object = Json::parse(manifest.json, nullptr, /*allow_exceptions=*/false);
  Json& meta = object["metadata"];
  const std::string own = TextOf(meta, "namespace");
  if (ns_is_given && !own.empty() && own != ns) {
    return absl::InvalidArgumentError(manifest.source + ": the namespace is " + own +
                                      " there and " + ns + " on the command line");
  }
  if (own.empty()) meta["namespace"] = ns;
  const std::string where = own.empty() ? ns : own;
  std::string name = TextOf(meta, "name");
  if (name.empty()) name = TextOf(meta, "generateName");
  const std::string path = WithQuery(JobsPath(manifest.kind, where),
                                     {{"fieldValidation", "Strict"},
                                      {"dryRun", dry_run ? "All" : ""}});
  absl::StatusOr<std::string> reply =
      api.Post(path, object.dump(-1, ' ', false, Json::error_handler_t::replace),
               "create " + QualifiedName(manifest.kind, name) + " in " + where);
  if (absl::IsAlreadyExists(reply.status())) {
    return Annotate(reply.status(), "choose another name, or `taas delete " + name + "` first");
  }
  return reply;
}

struct Creation {
  const Manifest& manifest;
  std::string ns;
  bool dry_run = false;
};

absl::StatusOr<SeenJob> CreateAndTell(const CommandIo& io, ApiClient& api,
                                      const SubmitCommand& command, const Creation& creation) {
  ASSIGN_OR_RETURN(const std::string stored,
                   Create(api, creation.manifest, creation.ns, !command.cluster.ns.empty(),
                          creation.dry_run));
  ASSIGN_OR_RETURN(SeenJob job, ReadSeenJob(creation.manifest.kind, stored));
  const std::string shown = QualifiedName(job.kind, job.meta.name);
  if (command.output == "name") {
    io.out << shown << "\n";
  } else if (!command.output.empty()) {
    RETURN_IF_ERROR(PrintObject(io, stored, command.output));
  } else {
    io.err << shown << (creation.dry_run ? " would be created\n" : " created\n");
  }
  return job;
}

absl::Status SubmitAll(const CommandIo& io, const SubmitCommand& command,
                       const std::vector<Manifest>& manifests) {
  for (const Manifest& manifest : manifests) {
    for (const std::string& words : JobWarnings(manifest.kind, manifest.json)) {
      io.err << manifest.source << ": warning: " << words << "\n";
    }
  }
  if (command.dry_run == "client") {
    for (const Manifest& manifest : manifests) {
      if (command.output != "json" && &manifest != &manifests.front()) io.out << "---\n";
      RETURN_IF_ERROR(PrintObject(io, manifest.json,
                                  command.output.empty() ? "yaml" : command.output));
    }
    return absl::OkStatus();
  }
  ClusterFlags cluster = command.cluster;
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &cluster));
  const bool dry_run = command.dry_run == "server";
  std::vector<SeenJob> jobs;
  absl::Status failed;
  size_t failures = 0;
  for (const Manifest& manifest : manifests) {
    const absl::StatusOr<SeenJob> job =
        CreateAndTell(io, *api, command, {manifest, cluster.ns, dry_run});
    if (job.ok()) {
      jobs.push_back(*job);
      continue;
    }
    // The others are made all the same, as kubectl does it: what to do about one is said at once.
    ++failures;
    failed = job.status();
    if (manifests.size() > 1) Report(io, failed);
  }
  if (failures > 0 && manifests.size() == 1) return failed;
  if (failures > 0) {
    return absl::Status(failed.code(), std::to_string(failures) + " of " +
                                           std::to_string(manifests.size()) +
                                           " jobs were not created; the others were");
  }
  if (dry_run || !command.follow) return absl::OkStatus();
  if (jobs.size() == 1 && jobs.front().spec.suspend) {
    io.err << "It is suspended; `taas resume " << jobs.front().meta.name << "` starts it.\n";
    return absl::OkStatus();
  }
  if (jobs.size() == 1) return FollowJob(io, *api, jobs.front());
  io.err << "Several jobs are not followed; `taas logs -f NAME` follows one.\n";
  return absl::OkStatus();
}

absl::Status SubmitFiles(const CommandIo& io, const SubmitCommand& command) {
  ASSIGN_OR_RETURN(const std::vector<Manifest> manifests,
                   FromFiles(command.files, command.job.set));
  for (const Manifest& manifest : manifests) RETURN_IF_ERROR(CheckManifest(manifest));
  return SubmitAll(io, command, manifests);
}

int Submit(const CommandIo& io, SubmitCommand command) {
  if (!command.files.empty()) return Report(io, SubmitFiles(io, command));
  const absl::StatusOr<std::vector<Manifest>> manifests = FromFlags(&command);
  if (manifests.ok()) return Report(io, SubmitAll(io, command, *manifests));
  // Flags that make no job are wrong usage.
  io.err << "taas submit: " << std::string(manifests.status().message())
         << "\nRun `taas submit --help` for more information.\n";
  return kExitUsage;
}

Option AddText(Command& verb, const std::string& name, std::string* to, const std::string& help) {
  return verb.AddOption(name, to, help);
}

// Once for each value: `--env A=1 --env B=2`.
Option AddTexts(Command& verb, const std::string& name, std::vector<std::string>* to,
                const std::string& help) {
  return verb.AddOption(name, to, help + "; may be given several times").Repeated().Group("Pods");
}

void AddRoleFlags(Command& verb, SubmitCommand* command) {
  SubmitFlags& job = command->job;
  verb.AddOption("--workers", &RoleOf(job, Role::kWorker).replicas, "Workers (default: 0)")
      .NonNegative()
      .Group("Roles");
  verb.AddOption("--ps", &RoleOf(job, Role::kPs).replicas, "Parameter servers (default: 0)")
      .NonNegative()
      .Group("Roles");
  verb.AddFlag("--chief", &command->chief, "With a chief, which trains too").Group("Roles");
  verb.AddFlag("--evaluator", &command->evaluator, "With an evaluator").Group("Roles");
  verb.AddOption("--gpus", &job.gpus, "GPUs of each chief and worker (default: 0)")
      .NonNegative()
      .Group("Roles");
  AddText(verb, "--cpu", &job.cpu, "CPUs of each replica, as in 500m (default: no bound)")
      .Group("Roles");
  AddText(verb, "--memory", &job.memory, "Memory of each replica, as in 2Gi (default: no bound)")
      .Group("Roles");
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}) {
    RoleFlags& own = RoleOf(job, role);
    const std::string name(RoleName(role));
    AddText(verb, "--" + name + "-image", &own.image, "Default: --image").Group("Roles");
    AddText(verb, "--" + name + "-cpu", &own.cpu, "Default: --cpu").Group("Roles");
    AddText(verb, "--" + name + "-memory", &own.memory, "Default: --memory").Group("Roles");
    const bool trains = role == Role::kChief || role == Role::kWorker;
    verb.AddOption("--" + name + "-gpus", &own.gpus, trains ? "Default: --gpus" : "Default: 0")
        .NonNegative()
        .Group("Roles");
    AddTexts(verb, "--" + name + "-selector", &own.selectors, "Label KEY=VALUE of its nodes")
        .Group("Roles");
  }
}

void AddPodFlags(Command& verb, SubmitFlags* job) {
  AddTexts(verb, "-e,--env", &job->env, "Environment variable NAME=VALUE");
  AddTexts(verb, "-d,--data", &job->data, "Mount a claim: CLAIM:/path or CLAIM:/path:ro");
  AddTexts(verb, "--data-dir", &job->data_dirs, "Mount a directory of the node: /dir:/path");
  AddTexts(verb, "-l,--label", &job->labels, "Label KEY=VALUE of the job and its pods");
  AddTexts(verb, "-a,--annotation", &job->annotations, "Annotation KEY=VALUE of the pods");
  AddTexts(verb, "--selector", &job->selectors, "Label KEY=VALUE of the nodes to run on");
  AddTexts(verb, "--toleration", &job->tolerations, "Taint to tolerate: KEY, KEY=VALUE or all");
  AddTexts(verb, "--image-pull-secret", &job->pull_secrets, "Secret to pull the image with");
  AddText(verb, "--image-pull-policy", &job->pull_policy, "Default: the cluster's")
      .OneOf({"Always", "IfNotPresent", "Never"})
      .Group("Pods");
  AddText(verb, "--working-dir", &job->working_dir, "Default: the image's").Group("Pods");
  AddText(verb, "--share-memory", &job->share_memory, "Size of /dev/shm, as in 2Gi").Group("Pods");
  AddText(verb, "-p,--priority", &job->priority, "Priority class of the pods").Group("Pods");
  AddText(verb, "--shell", &job->shell,
          "Join the words after -- and run them with this shell (default: they are an argv)")
      .OneOf({"sh", "bash"})
      .Group("Pods");
}

void AddPolicyFlags(Command& verb, SubmitCommand* command) {
  SubmitFlags& job = command->job;
  const auto duration = [&](const char* name, std::string* to, const char* help) {
    Option option = verb.AddOption(name, to, help);
    CheckIsDuration(option);
    option.Group("Policies");
  };
  duration("--running-timeout", &command->running_timeout,
           "The job fails when it ran so long, as in 12h (default: never)");
  duration("--starting-timeout", &command->starting_timeout,
           "If not all pods run by then, all are released and tried later (default: never)");
  duration("--ttl-after-finished", &command->ttl,
           "The job is deleted so long after its end (default: never)");
  AddText(verb, "--clean-task-policy", &job.clean_task_policy,
          "Which pods go at the end: Running, All or None (default: Running)")
      .OneOf({"Running", "All", "None"})
      .Group("Policies");
  AddText(verb, "--success-policy", &job.success_policy,
          "Whose end is the job's: ChiefWorker (chief, else worker 0), Worker0 or AllWorkers "
          "(default: ChiefWorker)")
      .OneOf({"ChiefWorker", "Worker0", "AllWorkers"})
      .Group("Policies");
  AddText(verb, "--restart", &job.restart,
          "Always, OnFailure, Never or ExitCode (default: the kind's, ExitCode for a TrainingJob "
          "and Never for a TFJob)")
      .OneOf({"Always", "OnFailure", "Never", "ExitCode"})
      .Group("Policies");
  AddText(verb, "--restart-scope", &job.restart_scope,
          "Replica, or Job: all together from the last checkpoint (default: Replica)")
      .OneOf({"Replica", "Job"})
      .Group("Policies");
  verb.AddOption("--retry", &job.retry, "Restarts by errors of the program (default: the kind's)")
      .NonNegative()
      .Group("Policies");
  verb.AddFlag("--suspend", &job.suspend, "Create it suspended; `taas resume` starts it")
      .Group("Policies");
}

// A strategy that has no flags of its own.
std::string OfTowers(const std::string& strategy) {
  if (strategy != "towers" && strategy != "Towers") return "";
  return "for towers leave --strategy out and give --set trainer.strategy.type=Towers "
         "--set trainer.strategy.towers=N";
}

void AddTrainerFlags(Command& verb, TrainerFlags* to) {
  const auto text = [&](const char* name, std::string* at, const char* help) {
    return verb.AddOption(name, at, help).Group("Bundled trainer");
  };
  text("--model", &to->model, "Train this model with the bundled trainer, as in mlp");
  text("--hidden", &to->hidden, "Sizes of its hidden layers, as in 500,100");
  text("--dataset", &to->dataset,
       "Format of the data; generated makes examples up (default: idx, with --train-images)");
  text("--train-images", &to->train_images, "File to train on");
  text("--train-labels", &to->train_labels, "Its labels");
  text("--test-images", &to->test_images, "File to evaluate on");
  text("--test-labels", &to->test_labels, "Its labels");
  text("--strategy", &to->strategy,
       "local, async, sync or allreduce (default: async, and local for one worker without ps)")
      .Check(OfTowers)
      .OneOf({"local", "async", "sync", "allreduce"});
  verb.AddOption("--replicas-to-aggregate", &to->replicas_to_aggregate,
                 "With sync: gradients in one update (default: one per training replica)")
      .Positive()
      .Group("Bundled trainer");
  text("--backup-workers", &to->backup_workers, "With sync: a number, or a share as in 5%");
  text("--optimizer", &to->optimizer, "As in sgd (default: sgd)");
  verb.AddOption("--learning-rate", &to->learning_rate, "Default: the API's")
      .Positive()
      .Group("Bundled trainer");
  verb.AddOption("--batch-size", &to->batch_size, "Examples per step and replica")
      .Positive()
      .Group("Bundled trainer");
  verb.AddOption("--steps", &to->steps, "Steps of all replicas together")
      .Positive()
      .Group("Bundled trainer");
  text("--checkpoint-dir", &to->checkpoint_dir, "Where checkpoints are kept (default: nowhere)");
  text("--logdir", &to->summaries_dir, "Where event files are written (default: nowhere)");
}

}  // namespace

void AddSubmitCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command submit = app.AddCommand(
      {.name = "submit",
       .about = "Create a job from flags or files and follow it to its end; the exit code is its "
                "result"});
  auto command = std::make_shared<SubmitCommand>();
  SubmitFlags& job = command->job;
  AddClusterFlags(submit, &command->cluster);
  Option file = submit.AddOption(
      "-f,--filename", &command->files,
      "Manifest or directory instead of flags, - reads standard input; may be given several times");
  file.RepeatedOrListed();
  Option name = submit.AddOption("--name", &job.name, "Name of the job");
  AddTexts(submit, "--set", &job.set,
           "Any other field: PATH=VALUE, as in spec.nodeLossSeconds=30 or trainer.seed=7")
      .Group("Options");
  submit
      .AddOption("--dry-run", &command->dry_run,
                 "none, client (print the manifest) or server (ask it, create nothing)")
      .OneOf({"none", "client", "server"});
  submit.AddOption("-o,--output", &command->output, "Print the object: json, yaml or name")
      .OneOf({"json", "yaml", "name"});
  submit.AddFlag("--follow,!--detach", &command->follow,
                 "Print the logs until the job has ended (default); --detach returns at once");
  const std::vector<Option> of_files = submit.options();
  submit.AddOption("--kind", &command->kind, "trainingjob or tfjob (default: trainingjob)")
      .OneOf({"trainingjob", "tfjob"});
  submit.AddOption("--image", &job.image, "Image of all roles");
  AddRoleFlags(submit, command.get());
  AddPodFlags(submit, &job);
  AddPolicyFlags(submit, command.get());
  AddTrainerFlags(submit, &job.trainer);
  submit.AddOption("COMMAND", &job.command, "What the image runs, after --: an argv");
  const std::vector<Option> all = submit.options();
  const auto complaint = [file, name, of_files, all]() -> std::string {
    if (!file.given()) return name.given() ? "" : "--name, or -f with a manifest, is required";
    // What the manifest says counts, so nobody's word is left out in silence.
    for (const Option& option : all) {
      const bool fits = option != name && std::ranges::find(of_files, option) != of_files.end();
      if (fits || !option.given()) continue;
      return option.name() + " describes a job without a manifest, and " + file.name() +
             " gives one: change the file, or give --set PATH=VALUE";
    }
    return "";
  };
  submit.OnRun(complaint,
               [&io, command, exit_code] { *exit_code = Submit(io, *command); });
}

}  // namespace taas
