#include "trainer/cmd/role.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/machine_name.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/cuda/nccl_peers.h"
#include "trainer/export/export_model.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/ps/layout.h"
#include "trainer/summary/graph_event.h"
#include "trainer/summary/hparams.h"
#include "trainer/summary/sampled_tensors.h"

namespace taas {
namespace {

// Between two looks at a checkpoint directory that another job owns, whose lease is 30 s.
constexpr std::chrono::milliseconds kDirectoryRetry{1'000};

// "124,439,808"
std::string ParametersText(const Session& session) {
  size_t count = 0;
  for (const VariableInfo& variable : session.variables()) count += variable.count;
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

void AddEvaluation(const Evaluation& evaluation, summary::Summary* summary) {
  const auto add = [&](const char* tag, double value) {
    summary::Summary::Value* const entry = summary->add_value();
    entry->set_tag(tag);
    entry->set_simple_value(static_cast<float>(value));
  };
  add("eval/loss", evaluation.loss);
  if (evaluation.accuracy) add("eval/accuracy", *evaluation.accuracy);
  if (evaluation.perplexity) add("eval/perplexity", *evaluation.perplexity);
}

}  // namespace

absl::StatusOr<std::unique_ptr<StatusServer>> Role::ServeStatus(
    std::function<void()> before_status) {
  if (!process_.status_port) return std::unique_ptr<StatusServer>();
  events_.emplace(config().summaries_dir, process_.job);
  const StatusServer::Pages pages = {
      {"/status",
       {[this, before_status = std::move(before_status)](const std::string&) {
         before_status();
         return board_.Json();
       }}},
      {"/series", {[this](const std::string& query) { return series_.Json(query); }}},
      {"/events",
       {.body = [this](const std::string&) { return events_->List(); }, .reads_disk = true}},
      {"/events/data",
       {.body = [this](const std::string& query) { return events_->Data(query); },
        .content_type = "application/octet-stream",
        .reads_disk = true}}};
  auto server = StatusServer::Start(place_.listen_host(), *process_.status_port, pages,
                                    {.others = {place_.host(), MachineName()}});
  if (!server.ok()) return Restart(server.status());
  return server;
}

absl::Status Role::Restart(const absl::Status& status) {
  return absl::UnavailableError(std::string(status.message()));
}

std::unique_ptr<CheckpointWeights> Role::FollowCheckpoints() {
  const TrainerConfig& of = config();
  if (of.checkpoint_dir.empty() || of.summaries_dir.empty() || !of.summary_histograms) {
    return nullptr;
  }
  auto weights = std::make_unique<CheckpointWeights>(
      clock_, files_,
      CheckpointWeights::Options{.checkpoints = of.checkpoint_dir,
                                 .events = of.summaries_dir + "/checkpoints",
                                 .job = process_.job});
  weights->Follow();
  return weights;
}

absl::StatusOr<Runtime> Role::ComputesWith() {
  if (process_.gpus == 0) return CpuRuntime();
  if (gpus_ == nullptr) {
    cuda::CudaRuntime::Libraries libraries;
    libraries.cudnn.folder = process_.gpu_plans;
    libraries.nccl.stuck = [this](const absl::Status& why) { EndNow(why); };
    ASSIGN_OR_RETURN(gpus_, cuda::CudaRuntime::Open(process_.gpus, libraries));
    for (const Device* const device : gpus_->runtime().devices) {
      Log(LogLevel::kInfo, "computing on a GPU", {{"device", device->name()}});
    }
    watch_.ComputesOn(gpus_->ids());
  }
  return gpus_->runtime();
}

Role::Peers Role::MakePeers() const {
  if (gpus_ == nullptr) return {.group = nullptr, .why_not = "a processor"};
  absl::StatusOr<std::unique_ptr<cuda::NcclPeers>> made = cuda::NcclPeers::Load(gpus_->device(0));
  if (made.ok()) return {.group = *std::move(made), .why_not = ""};
  Log(LogLevel::kWarning, "gradients of this rank's GPU go through memory of the host",
      {{"why", std::string(made.status().message())}});
  return {.group = nullptr, .why_not = "a GPU without NCCL"};
}

void Role::EndNow(const absl::Status& why) {
  const std::string message(why.message());
  Log(LogLevel::kError, message, {{"exit", std::to_string(kExitBadNode)}});
  WriteTermination(process_.termination_log, board_.TerminationJson(message));
  _exit(kExitBadNode);
}

absl::StatusOr<std::unique_ptr<ModelTask>> Role::MakeTask(GradientMemory gradient_memory) {
  ModelTask::Process process;
  process.gradient_memory = std::move(gradient_memory);
  TraceFile::Process traced{.name = "taas-trainer", .suffix = ""};
  if (process_.cluster) {
    process.job = cluster().self.role;
    process.task = cluster().self.index;
    traced.name = process.job + "/" + std::to_string(process.task);
    if (!cluster().alone()) traced.suffix = cluster().self.name();
  }
  trace_.emplace(clock_, files_, config().engine, traced);
  process.trace = trace_->trace();
  process.after_step = [this] { trace_->WriteIfComplete(); };
  process.trains = process_.part.role != TrainerRole::kEvaluator;
  process.read_again = [this](const std::function<absl::Status()>& read) {
    // A process by itself saves what it has when it is stopped; the chief's training thread is told
    // when the others have.
    const StopFlag& stop = process_.part.role == TrainerRole::kLocal ? stop_ : reading_stopped_;
    return TryOn(TriesUntil(stop), ErrorAt::kRead, "read the training data", read);
  };
  ASSIGN_OR_RETURN(const Runtime runtime, ComputesWith());
  std::unique_ptr<ModelTask> task;
  RETURN_IF_ERROR(TryOn(TriesUntil(stop_), ErrorAt::kLoad, "load the data", [&] {
    auto made = ModelTask::Make(runtime, files_, config(), process);
    if (made.ok()) task = *std::move(made);
    return task != nullptr ? absl::OkStatus() : made.status();
  }));
  if (config().engine.log_device_placement) {
    // TensorFlow's lines, on its stream: scripts look for them there.
    std::fputs(task->Placements().c_str(), stderr);
  }
  board_.SetData(task->data_source(), task->examples());
  Log(LogLevel::kInfo, "data loaded",
      {{"source", task->data_source()}, {"examples", std::to_string(task->examples())}});
  if (process_.part.role == TrainerRole::kLocal || process_.part.role == TrainerRole::kChief) {
    Log(LogLevel::kInfo, "model built", {{"parameters", ParametersText(task->session())}});
  }
  return task;
}

absl::Status Role::TryExport() {
  if (config().export_format.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ExportFormat format, ParseExportFormat(config().export_format));
  return TryOn(TriesUntil(stop_), ErrorAt::kSetUp, "try the export directory", [&] {
    return Annotate(TryExportPath(files_, config().export_dir, format),
                    "spec.trainer.export.dir");
  });
}

absl::StatusOr<std::unique_ptr<SnapshotStore>> Role::OpenStore(TrainingTask& task) {
  if (config().checkpoint_dir.empty()) return std::unique_ptr<SnapshotStore>();
  ASSIGN_OR_RETURN(SnapshotShape shape, ShapeOf(task.session(), config()));
  shape.data = task.data_identity();
  const SnapshotStore::Options options{
      .dir = config().checkpoint_dir,
      .job = process_.job,
      .uid = process_.uid,
      .attempt = process_.attempt,
      .pod = process_.pod_number,
      .start = process_.start,
      .keep = static_cast<int>(config().checkpoint_keep),
      .shard_bytes = config().checkpoint_shard_bytes,
      .shape = shape,
      .on_listed = [this](const std::vector<CheckpointDir::Listed>& listed) {
        ShowCheckpoints(listed);
      }};
  Tries tries = TriesUntil(stop_);
  tries.limits.pause = kDirectoryRetry;
  std::unique_ptr<SnapshotStore> store;
  RETURN_IF_ERROR(TryOn(tries, ErrorAt::kSetUp, "open the checkpoint directory", [&] {
    auto opened = SnapshotStore::Open(files_, clock_, options);
    if (opened.ok()) store = *std::move(opened);
    return store != nullptr ? absl::OkStatus() : opened.status();
  }));
  return store;
}

void Role::ShowCheckpoints(const std::vector<CheckpointDir::Listed>& listed) {
  std::vector<CheckpointStatus> shown;
  for (const CheckpointDir::Listed& one : listed) {
    shown.push_back({.step = one.step,
                     .bytes = one.bytes,
                     .saved_at = one.saved_at ? FormatRfc3339(*one.saved_at) : ""});
  }
  board_.SetCheckpoints(std::move(shown));
}

absl::Status Role::Release(SnapshotStore* store, absl::Status status) {
  if (store == nullptr) return status;
  const absl::Status released = store->Release();
  if (!released.ok()) {
    Log(LogLevel::kWarning, "checkpoint directory not released",
        {{"why", std::string(released.message())}});
  }
  return status;
}

// Variables stand where parameter servers hold them, the rest where it runs.
summary::Event Role::PlacedGraph(ModelTask& task) const {
  const bool has_cluster = process_.cluster && !cluster().alone();
  const int shards = has_cluster ? cluster().count("ps") : 0;
  std::map<std::string, std::string> places;
  if (shards > 0) {
    const ps::Layout layout = ps::SplitByBytes(SizesOf(task.session()), shards);
    for (size_t shard = layout.shards.size(); shard-- > 0;) {  // The first part counts.
      for (const ps::Piece& piece : layout.shards[shard]) {
        const size_t variable = static_cast<size_t>(piece.variable);
        places[task.session().variables()[variable].name] =
            "/job:ps/task:" + std::to_string(shard) + "/device:CPU:0";
      }
    }
  }
  std::vector<OpInfo> ops = task.session().ops(RunKind::kTrain);
  for (OpInfo& op : ops) {
    if (const auto place = places.find(op.name); place != places.end()) op.device = place->second;
  }
  return GraphEvent(ops);
}

std::vector<summary::Event> Role::EventHead(ModelTask& task) const {
  const TrainerConfig& of = config();
  const auto object = [](const std::string& text) {
    return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  };
  nlohmann::json parameters = {{"model", object(of.model)},
                               {"optimizer", object(of.optimizer)},
                               {"batchSize", of.batch_size},
                               {"maxSteps", of.max_steps},
                               {"seed", of.seed},
                               {"regularization", {{"l1", of.l1}, {"l2", of.l2}}},
                               {"strategy", {{"sync", of.mode == UpdateMode::kSync},
                                             {"towers", of.towers}}}};
  if (!of.clip.empty()) parameters["optimizer"]["clip"] = object(of.clip);
  if (of.loss_scale != 1) parameters["optimizer"]["lossScale"] = of.loss_scale;
  const TrainingParameters what{.name = process_.job,
                                .parameters = &parameters,
                                .metrics = {"loss", "accuracy", "eval/loss", "eval/accuracy"},
                                .started = clock_.WallNow()};
  return {PlacedGraph(task), HparamsExperiment(what), HparamsStart(what)};
}

void Role::EndRecording(ModelTask& task, Recorder& recorder, const absl::Status& status) const {
  if (absl::IsCancelled(status) || absl::IsUnavailable(status)) return;
  const StatusBoard::Snapshot last = board_.snapshot();
  const int64_t step = last.progress.step;
  // Another replica may have made the last step. The loss is that of the last batch here.
  if (status.ok() && last.progress.loss && recorder.last_step() >= 0 &&
      recorder.last_step() < step) {
    recorder.Record({.step = step, .loss = last.progress.loss, .accuracy = task.BatchAccuracy()});
  }
  summary::Summary end = HparamsEnd(status.ok(), clock_.WallNow());
  if (last.evaluation) AddEvaluation(*last.evaluation, &end);
  recorder.End(step, std::move(end));
}

std::unique_ptr<Recorder> Role::MakeRecorder(ModelTask& task) {
  return std::make_unique<Recorder>(clock_, files_,
                                    Recorder::Options{.dir = config().summaries_dir,
                                                      .job = process_.job,
                                                      .every = config().summary_steps,
                                                      .histograms = config().summary_histograms,
                                                      .examples_per_step =
                                                          ExamplesPerStepOf(process_),
                                                      .head = EventHead(task)},
                                    series_);
}

absl::StatusOr<StepLog> Role::MakeStepLog(ModelTask& task, Recorder* recorder,
                                          std::function<int64_t()> gradients) const {
  StepLog::Options options{.every = config().log_steps,
                           .batch_size = ExamplesPerStepOf(process_),
                           .max_steps = config().max_steps,
                           .json = config().json_logs,
                           .terminal = isatty(STDOUT_FILENO) == 1};
  if (recorder != nullptr) {
    const int64_t usual = ExamplesPerStepOf(process_) / config().batch_size;
    ASSIGN_OR_RETURN(std::shared_ptr<Optimizer> optimizer,
                     Optimizer::Parse(config().optimizer, usual));
    const int64_t max_steps = config().max_steps;
    options.looks_at = [recorder, max_steps](int64_t step) {
      // The last step in any case, once.
      return recorder->Due(step) || (step >= max_steps && recorder->last_step() != step);
    };
    options.also = [this, &task, recorder, optimizer, looks_at = options.looks_at, rated = usual,
                    gradients = std::move(gradients)](int64_t step, double loss, double) mutable {
      if (!looks_at(step)) return;
      const int64_t now = gradients ? gradients() : rated;
      if (now != rated) {
        rated = now;
        optimizer = Optimizer::Parse(config().optimizer, now).value();  // As above.
      }
      Sample sample = SampleOf(task, *recorder, *optimizer, step, loss);
      if (gradients) sample.examples_per_step = now * config().batch_size;
      recorder->Record(std::move(sample));
    };
  }
  return StepLog(clock_, std::move(options));
}

Sample Role::SampleOf(ModelTask& task, const Recorder& recorder, const Optimizer& optimizer,
                      int64_t step, double loss) {
  Sample sample{.step = step,
                .loss = loss,
                .accuracy = task.BatchAccuracy(),
                .learning_rate = optimizer.learning_rate(step)};
  if (recorder.WantsHistograms()) sample.histograms = SampledTensors(task.session());
  return sample;
}

std::optional<double> Role::LogStep(StepLog& log, const StepResult& step, int64_t* last) {
  const bool first = *last < 0 || step.step <= *last;
  *last = step.step;
  if (!first) return log.OnStep(step.step, step.loss);
  log.Start(step.step);
  return std::nullopt;
}

void Role::ShowTrouble(const std::string& why) {
  board_.SetState(why.empty() ? RunState::kTraining : RunState::kWaitingForPeers, why);
}

Member::Options Role::MemberOptions() const {
  return {.chief_name = cluster().chief().name(),
          .chief_address = cluster().address(cluster().chief()),
          .job = job(),
          .self = cluster().self,
          .incarnation = {process_.pod_number, process_.start},
          .rank = cluster().rank(cluster().self),
          .config_hash = ConfigHash(config()),
          .start_deadline = process_.start_deadline};
}

TryLimits Role::limits() const {
  return {.role = process_.part.role,
          .start = process_.start_deadline,
          .save = std::chrono::seconds(config().checkpoint_save_deadline)};
}

}  // namespace taas
