// `taas eval`, `predict`, `generate`, `export`: a job's trained model used in a pod beside the job.

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/find_checkpoints.h"
#include "cli/job_ref.h"
#include "cli/pod_follow.h"
#include "cli/pod_wait_text.h"
#include "cli/read_input.h"
#include "cli/stop_signals.h"
#include "cli/use_plan.h"
#include "cli/verbs.h"
#include "operator/api/defaults.h"
#include "operator/base/check.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "operator/kube/list_page.h"
#include "operator/kube/pod_decoder.h"

namespace taas {
namespace {

using Milliseconds = std::chrono::milliseconds;

// Most pods run within this; what they wait for until then is no news.
constexpr std::chrono::seconds kTellAfter{2};
// Between two looks at the events of a pod that does not run.
constexpr std::chrono::seconds kLookAtEvents{5};
// Of a pod that waits: the newest say all.
constexpr const char* kEventsMax = "50";
// Of a name: 36^5 of them for one job, of which few are there at a time.
constexpr size_t kSuffixLength = 5;
// As shells have it of a program that a signal ended.
constexpr int kExitSignal = 128;
constexpr char kPromptFile[] = "prompt.txt";

struct UseCommand {
  ClusterFlags cluster;
  std::string job;
  std::string timeout = "1h";
  UseFlags flags;
};

// A pod of which two threads speak: the executor's, which follows it, and the one that waits.
class PodNews {
 public:
  PodNews() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CHECK(fd_ >= 0); }
  ~PodNews() { ::close(fd_); }
  PodNews(const PodNews&) = delete;
  PodNews& operator=(const PodNews&) = delete;

  int fd() const { return fd_; }
  void Seen(const Pod& pod) {
    const std::lock_guard<std::mutex> lock(mutex_);
    pod_ = pod;
    Wake();
  }
  void Ended(const absl::StatusOr<Pod>& result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    result_ = result;
    Wake();
  }
  std::optional<Pod> pod() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pod_;
  }
  std::optional<absl::StatusOr<Pod>> result() {
    uint64_t count = 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    (void)!::read(fd_, &count, sizeof count);
    return result_;
  }

 private:
  void Wake() {
    const uint64_t one = 1;
    (void)!::write(fd_, &one, sizeof one);
  }

  const int fd_;
  std::mutex mutex_;
  std::optional<Pod> pod_;
  std::optional<absl::StatusOr<Pod>> result_;
};

// Runs what was planned, and leaves nothing of it behind.
class UseRun {
 public:
  UseRun(const CommandIo& io, ApiClient& api, StopSignals& signals, const UsePlan& plan,
         std::chrono::seconds timeout)
      : io_(io),
        api_(api),
        signals_(signals),
        plan_(plan),
        timeout_(timeout),
        shown_("pod " + plan.ns + "/" + plan.name) {}

  // What taas exits with.
  int Run() {
    int code = kExitFailed;
    const absl::Status made = Make();
    if (made.ok()) {
      const absl::StatusOr<int> ended = Follow();
      code = ended.ok() ? *ended : Report(io_, ended.status());
    } else {
      code = Report(io_, made);
    }
    CleanUp();
    return code;
  }

 private:
  absl::Status Make() {
    if (!plan_.config_map.empty()) {
      RETURN_IF_ERROR(api_.Post(CollectionPath(Resource::kConfigMaps, plan_.ns), plan_.config_map,
                                "create ConfigMap " + plan_.ns + "/" + plan_.name).status());
      has_map_ = true;
    }
    const absl::StatusOr<std::string> stored =
        api_.Post(CollectionPath(Resource::kPods, plan_.ns), plan_.pod, "create " + shown_);
    // A write without an answer may have been applied.
    has_pod_ = stored.ok() || absl::IsUnknown(stored.status());
    RETURN_IF_ERROR(stored.status());
    ASSIGN_OR_RETURN(const Pod pod, DecodePod(*stored));
    uid_ = pod.meta.uid;
    io_.err << shown_ << " created\n";
    return absl::OkStatus();
  }

  absl::StatusOr<int> Follow() {
    std::ostream& out = io_.raw != nullptr ? *io_.raw : io_.out;
    auto follow = std::make_unique<PodFollow>(
        api_.transport(), api_.executor(), api_.random(),
        PodFollow::Options{.ns = plan_.ns, .pod = plan_.name, .container = plan_.container},
        PodFollow::Calls{
            .print = [&out](std::string_view line) { out << line << "\n" << std::flush; },
            .changed = [this](const Pod& pod) { news_.Seen(pod); },
            .done = [this](const absl::StatusOr<Pod>& result) { news_.Ended(result); }});
    api_.executor().Post([&follow] { follow->Start(); });
    absl::StatusOr<int> code = Await();
    std::promise<void> gone;
    api_.executor().Post([&] {
      follow.reset();
      gone.set_value();
    });
    gone.get_future().wait();
    return code;
  }

  absl::StatusOr<int> Await() {
    began_ = api_.clock().Now();
    look_at_ = began_ + kTellAfter;
    for (;;) {
      if (const int signal = signals_.Take(); signal != 0) return kExitSignal + signal;
      const std::optional<absl::StatusOr<Pod>> result = news_.result();
      if (result.has_value()) {
        RETURN_IF_ERROR(result->status());
        return CodeOf(**result);
      }
      const Clock::Time now = api_.clock().Now();
      if (now >= began_ + timeout_) return TimedOut();
      if (now >= look_at_) LookAtPod();
      const Clock::Time until = std::min(look_at_, began_ + timeout_);
      const auto left = std::chrono::ceil<Milliseconds>(until - now);
      pollfd fds[] = {{signals_.fd(), POLLIN, 0}, {news_.fd(), POLLIN, 0}};
      ::poll(fds, 2, static_cast<int>(std::max(left, Milliseconds(1)).count()));
    }
  }

  // Tells why it does not run, whenever that changes.
  void LookAtPod() {
    look_at_ = api_.clock().Now() + kLookAtEvents;
    const std::optional<Pod> pod = news_.pod();
    if (!pod.has_value()) return;
    const bool pending = pod->phase == PodPhase::kPending;
    const std::string why = WaitText(*pod, pending ? Events() : std::vector<std::string>());
    if (why.empty() || why == told_) return;
    told_ = why;
    io_.err << shown_ << " " << why << "\n";
  }

  // Who may not see events does without.
  std::vector<std::string> Events() {
    std::vector<std::string> out;
    const absl::StatusOr<std::string> body =
        api_.Get(WithQuery(CollectionPath(Resource::kEvents, plan_.ns),
                           {{"fieldSelector", "involvedObject.uid=" + uid_},
                            {"limit", kEventsMax}}),
                 "list events of " + shown_);
    if (!body.ok()) return out;
    (void)ReadListPage(*body, [&](std::string_view event) {
      std::optional<std::string> text = PodTrouble(event, uid_);
      if (text.has_value()) out.push_back(*std::move(text));
      return absl::OkStatus();
    });
    return out;
  }

  absl::Status TimedOut() {
    const std::optional<Pod> pod = news_.pod();
    const std::string why = pod.has_value() ? WaitText(*pod, {}) : "";
    const std::string last = told_.empty() ? why : told_;  // Events may have said more.
    const bool waits = pod.has_value() && pod->phase == PodPhase::kPending;
    return absl::DeadlineExceededError(shown_ + " had not ended after " +
                                       std::to_string(timeout_.count()) + " s (--timeout)" +
                                       (waits && !last.empty() ? "; it " + last : ""));
  }

  absl::StatusOr<int> CodeOf(const Pod& pod) {
    const bool late = pod.reason == "DeadlineExceeded";
    if (!pod.exit_code.has_value() || late) return EndOf(pod);
    const std::string& why = pod.exit_reason.str();
    // What it printed says why it failed; of one that was killed nothing does.
    if (*pod.exit_code > kExitSignal) {
      io_.err << "taas: " << shown_ << " ended with exit code " << *pod.exit_code
              << (why.empty() ? "" : ", " + why) << "\n";
    }
    return *pod.exit_code;
  }

  void CleanUp() {
    if (has_pod_) Remove(Resource::kPods);
    if (has_map_) Remove(Resource::kConfigMaps);
  }

  void Remove(Resource resource) {
    const std::string what = std::string(ResourceName(resource)) + " " + plan_.ns + "/" +
                             plan_.name;
    const absl::StatusOr<std::string> done =
        api_.Delete(ObjectPath(resource, plan_.ns, plan_.name), "", "delete " + what);
    if (done.ok() || absl::IsNotFound(done.status())) return;
    Report(io_, Annotate(done.status(), "it stays until its job is deleted; `kubectl delete -n " +
                                            plan_.ns + " " + std::string(ResourceName(resource)) +
                                            " " + plan_.name + "` removes it"));
  }

  const CommandIo& io_;
  ApiClient& api_;
  StopSignals& signals_;
  const UsePlan& plan_;
  const std::chrono::seconds timeout_;
  const std::string shown_;
  std::string uid_;
  bool has_map_ = false;
  bool has_pod_ = false;
  PodNews news_;
  Clock::Time began_{};
  Clock::Time look_at_{};
  std::string told_;
};

std::string Suffix(Random& random) {
  // Without vowels, as names that Kubernetes makes, so that no word comes of it.
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  while (out.size() < kSuffixLength) out += kLetters[random.Below(kLetters.size())];
  return out;
}

// Which image the operator gives a job that names none only it knows; its pods have it.
std::string ImageOf(ApiClient& api, const Job& job) {
  if (!LacksImage(job)) return "";
  const absl::StatusOr<std::vector<JobPod>> pods = PodsOf(api, job);
  if (pods.ok()) {
    for (const JobPod& pod : *pods) {
      if (!pod.pod.image.empty()) return pod.pod.image;
    }
  }
  return std::string(kDefaultTrainerImage);
}

absl::StatusOr<int> Use(const CommandIo& io, const UseVerb& verb, UseCommand command) {
  UseFacts facts;
  if (!command.flags.input.empty()) {
    ASSIGN_OR_RETURN(std::string bytes, ReadInput(command.flags.input));
    ASSIGN_OR_RETURN(facts.input, InputOf(command.flags.input, std::move(bytes)));
  } else if (!command.flags.prompt.empty()) {
    // Not as an argument, in which Kubernetes would take $(NAME) for a variable.
    facts.input = UseInput{.name = kPromptFile, .bytes = command.flags.prompt};
  }
  // Before there are threads; from here on a signal is an end with everything taken away.
  StopSignals signals;
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &command.cluster));
  ASSIGN_OR_RETURN(const FoundJob found, FindJob(*api, command.cluster.ns, command.job));
  RETURN_IF_ERROR(CheckUse(verb, found.job));
  const std::chrono::seconds timeout = *ParseDuration(command.timeout);
  facts.suffix = Suffix(api->random());
  facts.local = OfLocalCluster(io, *api);
  facts.image = ImageOf(*api, found.job);
  facts.deadline_seconds = timeout.count();
  ASSIGN_OR_RETURN(const UsePlan plan, PlanUse(verb, found.job, command.flags, facts));
  if (const int signal = signals.Take(); signal != 0) return kExitSignal + signal;
  const int code = UseRun(io, *api, signals, plan, timeout).Run();
  api->Stop();
  return code;
}

void AddUseCommand(Command& app, const CommandIo& io, const UseVerb& verb, int* exit_code) {
  Command use = app.AddCommand({.name = verb.name, .about = verb.about});
  auto command = std::make_shared<UseCommand>();
  AddClusterFlags(use, &command->cluster);
  use.AddOption("JOB", &command->job, "NAME, tj/NAME or tfjob/NAME of a job of the bundled trainer")
      .Required();
  verb.add_flags(use, &command->flags);
  use.AddOption("--checkpoint", &command->flags.checkpoint,
                "Path in the pod: a checkpoint's prefix, a directory, whose newest is taken, or a "
                ".safetensors file (default: the trainer's checkpoint.dir)");
  use.AddOption("--image", &command->flags.image, "Of the pod (default: that of the job's pods)");
  use.AddOption("--timeout", &command->timeout,
                "The pod is ended after it, with exit code 4, as in 90s or 2h (default: 1h)")
      .Check([](const std::string& text) {
        const auto time = ParseDuration(text);
        return time.has_value() && time->count() > 0 ? ""
                                                     : "\"" + text + "\" is no time like 90s or 5m";
      });
  const auto missing = [&verb, command] {
    return verb.missing == nullptr ? "" : verb.missing(command->flags);
  };
  use.OnRun(missing, [&io, &verb, command, exit_code] {
    const absl::StatusOr<int> code = Use(io, verb, *command);
    *exit_code = code.ok() ? *code : Report(io, code.status());
  });
}

}  // namespace

void AddUseCommands(Command& app, const CommandIo& io, int* exit_code) {
  for (const UseVerb& verb : UseVerbs()) AddUseCommand(app, io, verb, exit_code);
}

}  // namespace taas
