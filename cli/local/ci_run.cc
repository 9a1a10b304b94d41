#include "cli/local/ci_run.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/checkpoint_place.h"
#include "cli/exit_code.h"
#include "cli/job_changes.h"
#include "cli/local/apply.h"
#include "cli/local/ci_report.h"
#include "cli/local/local_session.h"
#include "cli/local/log_follower.h"
#include "cli/read_input.h"
#include "localkube/node/api_calls.h"
#include "operator/api/job_codec.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status.h"
#include "operator/base/terminal_text.h"
#include "operator/kube/http/warning_header.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

// Between two looks at status and logs: as live as a person sees, and idle otherwise.
constexpr auto kTick = 100ms;
// After a job's end only pods are left that it does not need.
constexpr auto kEndGrace = 2s;
// In a log, as often as the operator renews it; a terminal gets every tick.
constexpr auto kProgressEvery = 10s;

// Lines to stderr, with a bar below them where stderr is a terminal.
class Progress {
 public:
  explicit Progress(const Clock& clock) : clock_(clock), start_(clock.Now()) {}
  ~Progress() { ClearBar(); }

  // What a program wrote, as it wrote it.
  void Raw(const std::string& text) {
    ClearBar();
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  void Line(const std::string& text) { Raw(TerminalText(text)); }
  void Change(const std::string& text) {
    const double seconds = std::chrono::duration<double>(clock_.Now() - start_).count();
    char time[32];
    std::snprintf(time, sizeof time, "%7.1f s  ", seconds);
    Line(time + text);
  }
  void Show(const JobStatus& status) {
    const std::string line = ProgressLine(status);
    if (line.empty()) return;
    if (terminal_) {
      std::fprintf(stderr, "\r\033[K%s", TerminalText(ProgressBar(status)).c_str());
      bar_ = true;
    } else if (line != last_ && (last_.empty() || clock_.Now() >= next_)) {
      Change(line);
      next_ = clock_.Now() + kProgressEvery;
      last_ = line;
    }
  }

 private:
  void ClearBar() {
    if (bar_) std::fprintf(stderr, "\r\033[K");
    bar_ = false;
  }

  const Clock& clock_;
  const Clock::Time start_;
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool bar_ = false;
  std::string last_;
  Clock::Time next_{};
};

class CiRun {
 public:
  CiRun(const CiOptions& options, StopSignals& signals)
      : options_(options),
        signals_(signals),
        deadline_(clock_.Now() + options.timeout),
        progress_(clock_) {}

  int Run(localkube::LocalCluster::Options cluster);

 private:
  absl::Status MakeDirectory();
  absl::Status FindJob(const Manifest& manifest);
  absl::Status Execute(localkube::LocalCluster::Options cluster);
  void Follow(localkube::ApiCalls& calls);
  bool Look(localkube::ApiCalls& calls);
  void FindCheckpoint();
  void TakeDown();
  int Report();

  const CiOptions& options_;
  StopSignals& signals_;
  RealClock clock_;
  PosixFileSystem disk_;
  const Clock::Time deadline_;
  Progress progress_;
  std::string dir_;
  JobKind job_kind_ = JobKind::kTrainingJob;
  std::string job_path_;
  std::string job_ns_;
  std::map<std::string, std::string> volumes_;  // By claim: those that are not the cluster's own.
  std::unique_ptr<LocalSession> session_;
  std::optional<LogFollower> logs_;
  Clock::Time applied_at_{};
  CiOutcome outcome_;
  int exit_code_ = kExitFailed;  // Of a job that does not succeed.
};

absl::Status CiRun::FindJob(const Manifest& manifest) {
  int jobs = 0;
  for (const ManifestObject& object : manifest.objects) {
    if (!object.job.has_value()) continue;
    ++jobs;
    job_kind_ = *object.job;
    job_ns_ = object.ns;
    job_path_ = object.path + "/" + object.name;
  }
  if (jobs == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(options_.file + ": has " + std::to_string(jobs) +
                                    " jobs; `taas local ci` runs exactly one");
}

absl::Status CiRun::MakeDirectory() {
  const char* tmp = ::getenv("TMPDIR");
  const std::string parent = tmp != nullptr && *tmp != '\0' ? tmp : "/tmp";
  // Absolute, because shims and containers work elsewhere.
  char* real = ::realpath(parent.c_str(), nullptr);
  if (real == nullptr) return ErrnoToStatus(errno, "make a temporary directory in", parent);
  dir_ = std::string(real) + "/taas-ci-XXXXXX";
  ::free(real);
  if (::mkdtemp(dir_.data()) != nullptr) return absl::OkStatus();
  return ErrnoToStatus(errno, "make a temporary directory", std::exchange(dir_, ""));
}

absl::Status CiRun::Execute(localkube::LocalCluster::Options cluster) {
  ASSIGN_OR_RETURN(const std::string text, ReadInput(options_.file));
  ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(text, options_.file));
  RETURN_IF_ERROR(FindJob(manifest));
  for (const std::string& text : UnusedVolumes(manifest, cluster.volume_bindings)) {
    progress_.Line("Warning: " + text);
  }
  RETURN_IF_ERROR(MakeDirectory());
  volumes_ = cluster.volume_bindings;
  cluster.dir = dir_;
  cluster.ephemeral = true;
  ASSIGN_OR_RETURN(session_, LocalSession::Start(std::move(cluster), {}));
  progress_.Change("cluster is up, KUBECONFIG=" + session_->cluster().kubeconfig());
  localkube::ApiCalls calls(session_->cluster().server().api());
  calls.set_on_warning([this](const std::string& value) {
    for (const std::string& text : ReadWarnings(value)) progress_.Line("Warning: " + text);
  });
  logs_.emplace(session_->cluster().server().store(), session_->cluster().logs(), job_ns_);
  applied_at_ = clock_.Now();
  RETURN_IF_ERROR(ApplyManifest(&manifest, calls));
  // Again, because the server may have chosen the job's name.
  RETURN_IF_ERROR(FindJob(manifest));
  progress_.Change("applied " + options_.file);
  Follow(calls);
  return absl::OkStatus();
}

// Returns when the job has ended, when time is up, or after a signal.
void CiRun::Follow(localkube::ApiCalls& calls) {
  for (;;) {
    const bool ended = Look(calls);
    for (const std::string& line : logs_->Take()) progress_.Raw(line);
    if (ended) return;
    if (clock_.Now() >= deadline_) {
      outcome_.state = "TimedOut";
      exit_code_ = kExitTimedOut;
      outcome_.message =
          "not finished within " + std::to_string(options_.timeout.count()) + " s; it was " +
          std::string(JobStateName(outcome_.job.status.state)) +
          (outcome_.job.status.message.empty() ? "" : ": " + outcome_.job.status.message);
      return;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - clock_.Now());
    pollfd fds = {signals_.fd(), POLLIN, 0};
    ::poll(&fds, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, kTick.count())));
    if (const int signal = signals_.Take(); signal != 0) {
      outcome_.state = "Interrupted";
      outcome_.message = "ended by signal " + std::to_string(signal);
      return;
    }
  }
}

// True if the job has ended.
bool CiRun::Look(localkube::ApiCalls& calls) {
  absl::StatusOr<std::string> text = calls.Get(job_path_);
  if (absl::IsNotFound(text.status())) {
    outcome_.state = "Deleted";
    outcome_.message = "the job was deleted while it ran";
    exit_code_ = kExitNotFound;
    return true;
  }
  if (!text.ok()) return false;
  absl::StatusOr<Job> job = DecodeJob(job_kind_, *text);
  if (!job.ok()) return false;
  for (const std::string& line : ChangeLines(outcome_.job.status, job->status))
    progress_.Change(line);
  outcome_.job = *std::move(job);
  progress_.Show(outcome_.job.status);
  const JobState state = outcome_.job.status.state;
  return state == JobState::kSucceeded || state == JobState::kFailed;
}

// The model is there as long as its folder, which may be the cluster's own.
void CiRun::FindCheckpoint() {
  if (session_ == nullptr || outcome_.job.status.state != JobState::kSucceeded) return;
  std::optional<CheckpointPlace> place = CheckpointPlaceOf(outcome_.job);
  if (!place.has_value() || place->claim.empty()) return;
  LookInFolder(session_->cluster().ClaimDir(job_ns_, place->claim), &*place);
  if (!place->step.has_value()) return;
  const bool bound =
      volumes_.contains(place->claim) || volumes_.contains(job_ns_ + "/" + place->claim);
  if (!bound && !options_.keep) {
    progress_.Line("The model goes with this cluster; --volume " + place->claim +
                   "=DIR keeps its checkpoints in DIR");
    return;
  }
  progress_.Line("Newest checkpoint: " + PlaceText(*place));
  progress_.Line("On this machine: " + place->folder);
  progress_.Line("`taas-trainer eval --checkpoint " + place->folder +
                 " --config MANIFEST --volume NAME=DIR` evaluates it, with the volume of its data");
  outcome_.checkpoint = std::move(place);
}

void CiRun::TakeDown() {
  if (session_ != nullptr) {
    const absl::Status ended = session_->EndPods(kEndGrace);
    if (!ended.ok()) progress_.Line("taas: end pods: " + std::string(ended.message()));
    for (const std::string& line : logs_->Take()) progress_.Raw(line);
    if (outcome_.job.status.state == JobState::kFailed) {
      for (const std::string& line : logs_->LastLinesOfFailed()) progress_.Raw(line);
    }
  }
  FindCheckpoint();
  logs_.reset();
  session_.reset();
  if (dir_.empty()) return;
  if (options_.keep) {
    progress_.Line("kept " + dir_);
    return;
  }
  const absl::Status removed = disk_.RemoveAll(dir_);
  if (!removed.ok()) progress_.Line("taas: " + std::string(removed.message()));
}

int CiRun::Report() {
  std::printf("%s\n", TerminalText(ReportJson(outcome_)).c_str());
  std::fflush(stdout);
  const bool succeeded =
      outcome_.state.empty() && outcome_.job.status.state == JobState::kSucceeded;
  return succeeded ? kExitOk : exit_code_;
}

int CiRun::Run(localkube::LocalCluster::Options cluster) {
  const absl::Status status = Execute(std::move(cluster));
  if (applied_at_ != Clock::Time{}) {
    outcome_.seconds = std::chrono::duration<double>(clock_.Now() - applied_at_).count();
  }
  if (!status.ok()) {
    outcome_.state = absl::IsInvalidArgument(status) ? "Rejected" : "Error";
    outcome_.message = std::string(status.message());
    exit_code_ = ExitCodeOf(status);
    progress_.Line("taas: " + outcome_.message);
  }
  TakeDown();
  return Report();
}

}  // namespace

int RunCi(const CiOptions& options, localkube::LocalCluster::Options cluster,
          StopSignals& signals) {
  return CiRun(options, signals).Run(std::move(cluster));
}

}  // namespace taas
