#include "dashboard/training/event_mirror.h"

#include <algorithm>

#include "dashboard/server/job_view.h"
#include "dashboard/training/answering_replicas.h"
#include "dashboard/training/event_list.h"
#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// Of what is wrong with files; a file that is damaged throughout need not be shown throughout.
constexpr size_t kProblemsShown = 20;

std::string Megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

// One copying of one job's files: list, plan, then part by part.
struct EventMirror::Round {
  std::string uid;
  std::vector<Source> to_ask;
  std::string answered;  // Names of those that answered.
  std::string trouble;
  std::vector<EventFileEntry> listed;
  std::map<std::string, std::shared_ptr<const WatchedPod>> pod_of;  // By path.
  std::vector<EventShelf::Part> parts;  // Still to fetch, the next one last.
};

EventMirror::EventMirror(PollTransport& transport, Executor& executor, Executor& disk,
                         EventShelf& shelf, ClaimDir claim_dir)
    : transport_(transport),
      executor_(executor),
      disk_(disk),
      shelf_(shelf),
      claim_dir_(std::move(claim_dir)) {}

EventMirror::~EventMirror() = default;

template <typename Work, typename Then>
void EventMirror::OnDisk(Work work, Then then) {
  disk_.Post([this, work = std::move(work), then = std::move(then),
              alive = std::weak_ptr<bool>(alive_), &executor = executor_]() mutable {
    auto result = std::make_shared<decltype(work())>(work());
    executor.Post([result, then = std::move(then), alive]() mutable {
      if (alive.lock() != nullptr) then(std::move(*result));
    });
  });
}

std::string EventMirror::DirOf(const WatchedJob& job) const {
  if (!job.summaries.has_value()) return "";
  const std::string top = VolumeTop(claim_dir_, job.meta.ns, *job.summaries);
  return top.empty() ? "" : top + "/" + job.summaries->below;
}

void EventMirror::Ask(const WatchedJob& job, const Pods& pods, Question question, Done done) {
  MakeRoom();
  const std::string& uid = job.meta.uid;
  Job& state = jobs_[uid];
  if (const std::string dir = DirOf(job); !dir.empty()) {
    state.copied = true;
    disk_.Post([this, uid, dir, name = job.meta.ns + "/" + job.meta.name] {
      shelf_.ReadInPlace(uid, dir, name);
    });
    return Reply(uid, std::move(question), std::move(done));
  }
  if (!state.copying && (!state.copied || executor_.clock().Now() - state.at >= kLately)) {
    Copy(uid, job, pods);
  }
  if (state.copied || !state.copying) return Reply(uid, std::move(question), std::move(done));
  auto reply = std::make_shared<std::function<void()>>(
      [this, uid, question = std::move(question), done = std::move(done)]() mutable {
        Reply(uid, std::move(question), std::move(done));
      });
  const auto once = [reply] {
    if (*reply) std::exchange(*reply, nullptr)();
  };
  state.waiting.push_back(once);
  executor_.PostAfter(kFirstWait, [once, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.lock() != nullptr) once();
  });
}

void EventMirror::Copy(const std::string& uid, const WatchedJob& job, const Pods& pods) {
  auto round = std::make_shared<Round>();
  round->uid = uid;
  const AnsweringReplicas replicas = FindAnsweringReplicas(job, pods);
  // The last is asked first.
  for (const auto& pod : {replicas.evaluator, replicas.main}) {
    if (pod != nullptr) round->to_ask.push_back({.name = ReplicaName(job, *pod), .pod = pod});
  }
  jobs_[uid].copying = true;
  if (round->to_ask.empty()) {
    return End(round, "no replica that serves event files runs now");
  }
  AskForList(std::move(round));
}

void EventMirror::AskForList(RoundPtr round) {
  if (round->to_ask.empty()) return Plan(std::move(round));
  const Source source = round->to_ask.back();
  round->to_ask.pop_back();
  transport_.Get(source.pod->ip, source.pod->status_port, "/events",
                 [this, round, source, alive = std::weak_ptr<bool>(alive_)](
                     const absl::StatusOr<std::string>& body) {
                   if (alive.lock() != nullptr) OnList(round, source, body);
                 });
}

// Where two replicas see one disk, both list the same files; the first is asked for them.
void EventMirror::OnList(RoundPtr round, const Source& source,
                         const absl::StatusOr<std::string>& body) {
  const auto files = body.ok() ? ReadEventList(*body)
                               : absl::StatusOr<std::vector<EventFileEntry>>(body.status());
  if (files.ok()) {
    round->answered += (round->answered.empty() ? "" : ", ") + source.name;
    for (const EventFileEntry& file : *files) {
      if (round->pod_of.emplace(file.path(), source.pod).second) round->listed.push_back(file);
    }
  } else if (round->trouble.empty()) {
    round->trouble = source.name + " does not serve its event files: " +
                     std::string(files.status().message());
  }
  AskForList(std::move(round));
}

void EventMirror::Plan(RoundPtr round) {
  if (round->answered.empty()) return End(round, round->trouble);
  Job& job = jobs_[round->uid];
  job.source = round->answered;
  job.bytes_total = 0;
  for (const EventFileEntry& file : round->listed) job.bytes_total += file.bytes;
  const bool complete = round->trouble.empty();
  OnDisk([this, round, complete] { return shelf_.Missing(round->uid, round->listed, complete); },
         [this, round](std::vector<EventShelf::Part> parts) {
           round->parts = std::move(parts);
           std::ranges::reverse(round->parts);
           FetchNext(round);
         });
}

void EventMirror::FetchNext(RoundPtr round) {
  if (round->parts.empty()) {
    const bool nothing = round->listed.empty();
    return End(round, !round->trouble.empty() ? round->trouble
                      : nothing ? round->answered + " has written no event file yet"
                                : "");
  }
  const EventShelf::Part& part = round->parts.back();
  const auto& pod = round->pod_of.at(part.path);
  transport_.Get(pod->ip, pod->status_port,
                 "/events/data?file=" + part.path + "&from=" + std::to_string(part.from),
                 [this, round, alive = std::weak_ptr<bool>(alive_)](
                     absl::StatusOr<std::string> bytes) {
                   if (alive.lock() != nullptr) OnBytes(round, std::move(bytes));
                 });
}

void EventMirror::OnBytes(RoundPtr round, absl::StatusOr<std::string> bytes) {
  if (!bytes.ok()) {
    return End(round, round->answered + " stopped serving its event files: " +
                          std::string(bytes.status().message()));
  }
  const EventShelf::Part part = round->parts.back();
  if (bytes->empty()) {  // The file is shorter than it was said to be.
    round->parts.pop_back();
    return FetchNext(std::move(round));
  }
  bytes->resize(std::min<uint64_t>(bytes->size(), part.to - part.from));
  OnDisk(
      [this, round, part, bytes = *std::move(bytes)] {
        const absl::Status status = shelf_.Append(round->uid, part.path, part.from, bytes);
        return std::pair(status, bytes.size());
      },
      [this, round](const std::pair<absl::Status, size_t>& appended) {
        const auto& [status, size] = appended;
        if (!status.ok()) return End(round, std::string(status.message()));
        EventShelf::Part& part = round->parts.back();
        part.from += size;
        if (part.from >= part.to) round->parts.pop_back();
        FetchNext(round);
      });
}

void EventMirror::End(const RoundPtr& round, const std::string& message) {
  Job& job = jobs_[round->uid];
  job.copying = false;
  job.copied = true;
  job.message = message;
  job.at = executor_.clock().Now();
  if (!round->answered.empty()) job.read_until = executor_.clock().WallNow();
  for (const auto& reply : std::exchange(job.waiting, {})) reply();
}

void EventMirror::Reply(const std::string& uid, Question question, Done done) {
  if (!question.path.empty()) {
    return OnDisk(
        [this, uid, question = std::move(question)] {
          return shelf_.Ask(uid, question.path, question.query);
        },
        [done = std::move(done)](Answer answer) { done(std::move(answer)); });
  }
  OnDisk([this, uid] { return shelf_.About(uid); },
         [this, uid, done = std::move(done)](const EventShelf::Kept& kept) {
           done(Answer::Json(AboutText(jobs_[uid], kept)));
         });
}

std::string EventMirror::AboutText(const Job& job, const EventShelf::Kept& kept) const {
  std::string message = job.message;
  if (!message.empty() && kept.files > 0 && job.read_until != Clock::WallTime{}) {
    message += "; what is shown was read until " + FormatRfc3339(job.read_until);
  }
  if (message.empty() && !job.copying && kept.bytes < job.bytes_total) {
    message = "the files have " + Megabytes(job.bytes_total) + ", of which the first " +
              Megabytes(kept.bytes) + " are shown: look at them with TensorBoard";
  }
  Json problems = Json::array();
  for (const RunProblem& entry : kept.problems) {
    if (problems.size() >= kProblemsShown) break;
    problems.push_back({{"run", entry.run},
                        {"file", entry.problem.file},
                        {"byte", entry.problem.byte},
                        {"what", entry.problem.what}});
  }
  return DumpJson({{"runs", kept.runs},
                   {"files", kept.files},
                   {"bytes", kept.bytes},
                   {"bytesTotal", std::max(job.bytes_total, kept.bytes)},
                   {"source", job.source},
                   {"message", message},
                   {"problems", std::move(problems)}});
}

void EventMirror::MakeRoom() {
  if (jobs_.size() < kJobsMax) return;
  const auto oldest = std::ranges::min_element(
      jobs_, {},
      [](const auto& entry) { return std::pair(entry.second.copying, entry.second.at); });
  if (!oldest->second.copying) jobs_.erase(oldest);
}

}  // namespace taas::dashboard
