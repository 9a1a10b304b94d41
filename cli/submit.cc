// `taas submit`: a job from flags or from files, followed to its end.

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/job_manifest.h"
#include "cli/job_ref.h"
#include "cli/logs.h"
#include "cli/read_input.h"
#include "cli/submit_manifest.h"
#include "cli/verbs.h"
#include "operator/api/dialect.h"
#include "operator/api/job_codec.h"
#include "operator/api/json_field.h"
#include "operator/api/manifest.h"
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

absl::StatusOr<std::vector<Manifest>> FromFiles(const std::vector<std::string>& paths) {
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
  return std::vector<Manifest>{{job.kind, std::move(json), "job " + job.name}};
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

absl::Status SubmitAll(const CommandIo& io, const SubmitCommand& command,
                       const std::vector<Manifest>& manifests) {
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
  std::vector<Job> jobs;
  for (const Manifest& manifest : manifests) {
    ASSIGN_OR_RETURN(const std::string stored, Create(*api, manifest, cluster.ns,
                                                      !command.cluster.ns.empty(), dry_run));
    ASSIGN_OR_RETURN(const Job job, DecodeJob(manifest.kind, stored));
    const std::string shown = QualifiedName(job.kind, job.meta.name);
    if (command.output == "name") {
      io.out << shown << "\n";
    } else if (!command.output.empty()) {
      RETURN_IF_ERROR(PrintObject(io, stored, command.output));
    } else {
      io.err << shown << (dry_run ? " would be created\n" : " created\n");
    }
    jobs.push_back(job);
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

absl::Status Submit(const CommandIo& io, SubmitCommand command) {
  std::vector<Manifest> manifests;
  if (command.files.empty()) {
    ASSIGN_OR_RETURN(manifests, FromFlags(&command));
  } else {
    ASSIGN_OR_RETURN(manifests, FromFiles(command.files));
  }
  for (const Manifest& manifest : manifests) RETURN_IF_ERROR(CheckManifest(manifest));
  return SubmitAll(io, command, manifests);
}

CLI::Option* AddText(CLI::App* verb, const std::string& name, std::string* to,
                     const std::string& help) {
  return verb->add_option(name, *to, help);
}

// Once for each value: `--env A=1 --env B=2`.
CLI::Option* AddTexts(CLI::App* verb, const std::string& name, std::vector<std::string>* to,
                      const std::string& help) {
  return verb->add_option(name, *to, help + "; may be given several times")
      ->take_all()
      ->expected(1)
      // Or CLI11 takes the "--" before a command for the end of these values.
      ->allow_extra_args(false)
      ->group("Pods");
}

void AddRoleFlags(CLI::App* verb, SubmitCommand* command) {
  SubmitFlags& job = command->job;
  verb->add_option("--workers", RoleOf(job, Role::kWorker).replicas, "Workers (default: 0)")
      ->check(CLI::NonNegativeNumber)
      ->group("Roles");
  verb->add_option("--ps", RoleOf(job, Role::kPs).replicas, "Parameter servers (default: 0)")
      ->check(CLI::NonNegativeNumber)
      ->group("Roles");
  verb->add_flag("--chief", command->chief, "With a chief, which trains too")->group("Roles");
  verb->add_flag("--evaluator", command->evaluator, "With an evaluator")->group("Roles");
  verb->add_option("--gpus", job.gpus, "GPUs of each chief and worker (default: 0)")
      ->check(CLI::NonNegativeNumber)
      ->group("Roles");
  AddText(verb, "--cpu", &job.cpu, "CPUs of each replica, as in 500m (default: no bound)")
      ->group("Roles");
  AddText(verb, "--memory", &job.memory, "Memory of each replica, as in 2Gi (default: no bound)")
      ->group("Roles");
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}) {
    RoleFlags& own = RoleOf(job, role);
    const std::string name(RoleName(role));
    AddText(verb, "--" + name + "-image", &own.image, "Default: --image")->group("Roles");
    AddText(verb, "--" + name + "-cpu", &own.cpu, "Default: --cpu")->group("Roles");
    AddText(verb, "--" + name + "-memory", &own.memory, "Default: --memory")->group("Roles");
    const bool trains = role == Role::kChief || role == Role::kWorker;
    verb->add_option("--" + name + "-gpus", own.gpus, trains ? "Default: --gpus" : "Default: 0")
        ->check(CLI::NonNegativeNumber)
        ->group("Roles");
    AddTexts(verb, "--" + name + "-selector", &own.selectors, "Label KEY=VALUE of its nodes")
        ->group("Roles");
  }
}

void AddPodFlags(CLI::App* verb, SubmitFlags* job) {
  AddTexts(verb, "-e,--env", &job->env, "Environment variable NAME=VALUE");
  AddTexts(verb, "-d,--data", &job->data, "Mount a claim: CLAIM:/path or CLAIM:/path:ro");
  AddTexts(verb, "--data-dir", &job->data_dirs, "Mount a directory of the node: /dir:/path");
  AddTexts(verb, "-l,--label", &job->labels, "Label KEY=VALUE of the job and its pods");
  AddTexts(verb, "-a,--annotation", &job->annotations, "Annotation KEY=VALUE of the pods");
  AddTexts(verb, "--selector", &job->selectors, "Label KEY=VALUE of the nodes to run on");
  AddTexts(verb, "--toleration", &job->tolerations, "Taint to tolerate: KEY, KEY=VALUE or all");
  AddTexts(verb, "--image-pull-secret", &job->pull_secrets, "Secret to pull the image with");
  AddText(verb, "--image-pull-policy", &job->pull_policy, "Default: the cluster's")
      ->check(CLI::IsMember({"Always", "IfNotPresent", "Never"}))
      ->group("Pods");
  AddText(verb, "--working-dir", &job->working_dir, "Default: the image's")->group("Pods");
  AddText(verb, "--share-memory", &job->share_memory, "Size of /dev/shm, as in 2Gi")->group("Pods");
  AddText(verb, "-p,--priority", &job->priority, "Priority class of the pods")->group("Pods");
  AddText(verb, "--shell", &job->shell,
          "Join the words after -- and run them with this shell (default: they are an argv)")
      ->check(CLI::IsMember({"sh", "bash"}))
      ->group("Pods");
}

void AddPolicyFlags(CLI::App* verb, SubmitCommand* command) {
  SubmitFlags& job = command->job;
  const auto duration = [&](const char* name, std::string* to, const char* help) {
    CLI::Option* const option = verb->add_option(name, *to, help);
    CheckIsDuration(option);
    option->group("Policies");
  };
  duration("--running-timeout", &command->running_timeout,
           "The job fails when it ran so long, as in 12h (default: never)");
  duration("--starting-timeout", &command->starting_timeout,
           "If not all pods run by then, all are released and tried later (default: never)");
  duration("--ttl-after-finished", &command->ttl,
           "The job is deleted so long after its end (default: never)");
  AddText(verb, "--clean-task-policy", &job.clean_task_policy,
          "Which pods go at the end: Running, All or None (default: Running)")
      ->check(CLI::IsMember({"Running", "All", "None"}))
      ->group("Policies");
  AddText(verb, "--success-policy", &job.success_policy,
          "Whose end is the job's: ChiefWorker (chief, else worker 0), Worker0 or AllWorkers "
          "(default: ChiefWorker)")
      ->check(CLI::IsMember({"ChiefWorker", "Worker0", "AllWorkers"}))
      ->group("Policies");
  AddText(verb, "--restart", &job.restart,
          "Always, OnFailure, Never or ExitCode (default: the kind's, ExitCode for a TrainingJob "
          "and Never for a TFJob)")
      ->check(CLI::IsMember({"Always", "OnFailure", "Never", "ExitCode"}))
      ->group("Policies");
  AddText(verb, "--restart-scope", &job.restart_scope,
          "Replica, or Job: all together from the last checkpoint (default: Replica)")
      ->check(CLI::IsMember({"Replica", "Job"}))
      ->group("Policies");
  verb->add_option("--retry", job.retry, "Restarts by errors of the program (default: the kind's)")
      ->check(CLI::NonNegativeNumber)
      ->group("Policies");
  verb->add_flag("--suspend", job.suspend, "Create it suspended; `taas resume` starts it")
      ->group("Policies");
}

void AddTrainerFlags(CLI::App* verb, TrainerFlags* to) {
  const auto text = [&](const char* name, std::string* at, const char* help) {
    return verb->add_option(name, *at, help)->group("Bundled trainer");
  };
  text("--model", &to->model, "Train this model with the bundled trainer, as in mlp");
  text("--hidden", &to->hidden, "Sizes of its hidden layers, as in 500,100");
  text("--dataset", &to->dataset, "Format of the data (default: idx with files, else generated)");
  text("--train-images", &to->train_images, "File to train on");
  text("--train-labels", &to->train_labels, "Its labels");
  text("--test-images", &to->test_images, "File to evaluate on");
  text("--test-labels", &to->test_labels, "Its labels");
  text("--strategy", &to->strategy, "local, async or sync (default: async)")
      ->check(CLI::IsMember({"local", "async", "sync"}));
  text("--backup-workers", &to->backup_workers, "With sync: a number, or a share as in 5%");
  text("--optimizer", &to->optimizer, "As in sgd (default: sgd)");
  verb->add_option("--learning-rate", to->learning_rate, "Default: the API's")
      ->check(CLI::PositiveNumber)
      ->group("Bundled trainer");
  verb->add_option("--batch-size", to->batch_size, "Examples per step and replica")
      ->check(CLI::PositiveNumber)
      ->group("Bundled trainer");
  verb->add_option("--steps", to->steps, "Steps of all replicas together")
      ->check(CLI::PositiveNumber)
      ->group("Bundled trainer");
  text("--checkpoint-dir", &to->checkpoint_dir, "Where checkpoints are kept (default: nowhere)");
  text("--logdir", &to->summaries_dir, "Where event files are written (default: nowhere)");
}

}  // namespace

void AddSubmitCommand(CLI::App& app, const CommandIo& io, int* exit_code) {
  CLI::App* const submit = app.add_subcommand(
      "submit",
      "Create a job from flags or files and follow it to its end; the exit code is its result");
  auto command = std::make_shared<SubmitCommand>();
  SubmitFlags& job = command->job;
  AddClusterFlags(submit, &command->cluster);
  CLI::Option* const file = submit->add_option(
      "-f,--filename", command->files,
      "Manifest or directory instead of flags, - reads standard input; may be given several times");
  file->take_all()->expected(1);
  CLI::Option* const name = submit->add_option("--name", job.name, "Name of the job");
  file->excludes(name);
  submit->add_option("--kind", command->kind, "trainingjob or tfjob (default: trainingjob)")
      ->check(CLI::IsMember({"trainingjob", "tfjob"}));
  submit->add_option("--image", job.image, "Image of all roles");
  AddTexts(submit, "--set", &job.set,
           "Any other field: PATH=VALUE, as in spec.nodeLossSeconds=30 or trainer.seed=7")
      ->group("Options");
  submit->add_option("--dry-run", command->dry_run,
                     "none, client (print the manifest) or server (ask it, create nothing)")
      ->check(CLI::IsMember({"none", "client", "server"}));
  submit->add_option("-o,--output", command->output, "Print the object: json, yaml or name")
      ->check(CLI::IsMember({"json", "yaml", "name"}));
  submit->add_flag("--follow,!--detach", command->follow,
                   "Print the logs until the job has ended (default); --detach returns at once");
  AddRoleFlags(submit, command.get());
  AddPodFlags(submit, &job);
  AddPolicyFlags(submit, command.get());
  AddTrainerFlags(submit, &job.trainer);
  submit->add_option("COMMAND", job.command, "What the image runs, after --: an argv");
  submit->callback([&io, command, file, name, exit_code] {
    if (file->count() == 0 && name->count() == 0) {
      throw CLI::RequiredError("submit: --name, or -f with a manifest");
    }
    *exit_code = Report(io, Submit(io, *command));
  });
}

}  // namespace taas
