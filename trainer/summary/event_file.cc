#include "trainer/summary/event_file.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "operator/base/machine_name.h"
#include "operator/base/status.h"
#include "trainer/formats/record_frame.h"
#include "trainer/summary/record.h"

namespace taas {
namespace {

constexpr char kPrefix[] = "events.out.tfevents.";
// No machine's name has the underscore, nor has that of a job or a namespace.
constexpr char kOfJob[] = ".of_";
constexpr char kVersion[] = "brain.Event:2";

// Of "events.out.tfevents.1700000000.host…"; 0 if there is none.
int64_t SecondsOf(const std::string& name) {
  int64_t seconds = 0;
  const char* const begin = name.data() + sizeof(kPrefix) - 1;
  std::from_chars(begin, name.data() + name.size(), seconds);
  return seconds;
}

std::string HostName() {
  std::string name = MachineName();
  return name.empty() ? "localhost" : name;
}

// "default/mnist" as the end of a name.
std::string NameEnd(std::string job) {
  if (job.empty()) return "";
  std::ranges::replace(job, '/', '_');
  return kOfJob + job;
}

double WallSeconds(Clock::WallTime wall) {
  return std::chrono::duration<double>(wall.time_since_epoch()).count();
}

}  // namespace

bool IsEventFile(const std::string& name) { return name.rfind(kPrefix, 0) == 0; }

std::string JobOfEventFile(const std::string& name) {
  const size_t at = IsEventFile(name) ? name.find(kOfJob) : std::string::npos;
  if (at == std::string::npos) return "";
  std::string job = name.substr(at + sizeof(kOfJob) - 1);
  std::ranges::replace(job, '_', '/');
  return job;
}

bool IsOfAnotherJob(const std::string& name, const std::string& job) {
  const std::string writer = JobOfEventFile(name);
  return !job.empty() && !writer.empty() && writer != job;
}

std::vector<std::string> OtherJobsIn(FileSystem& files, const std::string& dir,
                                     const std::string& job) {
  const auto names = files.List(dir);
  std::set<std::string> jobs;
  if (names.ok()) {
    for (const std::string& name : *names) {
      if (IsOfAnotherJob(name, job)) jobs.insert(JobOfEventFile(name));
    }
  }
  return {jobs.begin(), jobs.end()};
}

absl::StatusOr<std::unique_ptr<EventWriter>> EventWriter::Open(FileSystem& files,
                                                               const Clock& clock,
                                                               const std::string& dir,
                                                               const std::string& job) {
  const std::string what = "write event files in " + dir;
  RETURN_IF_ERROR(files.MakeDirs(dir)).With(what);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(dir));
  const Clock::WallTime now = clock.WallNow();
  int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  for (const std::string& name : names) {
    if (IsEventFile(name)) seconds = std::max(seconds, SecondsOf(name) + 1);
  }
  char number[24];
  std::snprintf(number, sizeof(number), "%010lld", static_cast<long long>(seconds));
  const std::string path = dir + "/" + kPrefix + number + "." + HostName() + "." +
                           std::to_string(getpid()) + ".0" + NameEnd(job);
  ASSIGN_OR_RETURN(auto file, files.OpenAppend(path));
  std::unique_ptr<EventWriter> writer(new EventWriter(path, std::move(file)));
  summary::Event version;
  version.set_wall_time(WallSeconds(now));
  version.set_file_version(kVersion);
  RETURN_IF_ERROR(writer->Append(version));
  return writer;
}

absl::Status EventWriter::Start(Clock::WallTime wall, int64_t step) {
  summary::Event event;
  event.set_wall_time(WallSeconds(wall));
  event.set_step(step);
  event.mutable_session_log()->set_status(summary::SessionLog::START);
  return Append(event);
}

absl::Status EventWriter::Write(Clock::WallTime wall, int64_t step, summary::Summary summary) {
  summary::Event event;
  event.set_wall_time(WallSeconds(wall));
  event.set_step(step);
  *event.mutable_summary() = std::move(summary);
  return Append(event);
}

absl::Status EventWriter::Add(Clock::WallTime wall, summary::Event event) {
  event.set_wall_time(WallSeconds(wall));
  return Append(event);
}

absl::Status EventWriter::Append(const summary::Event& event) {
  return file_->Append(FrameRecord(event.SerializeAsString()));
}

absl::Status ReadEventFile(FileSystem& files, const std::string& path, uint64_t size_max,
                           const std::function<void(const summary::Event&)>& each) {
  ASSIGN_OR_RETURN(const auto file, files.OpenRead(path));
  RecordCursor cursor(*file);
  for (;;) {
    ASSIGN_OR_RETURN(const auto data, cursor.Next(size_max));
    if (!data) return absl::OkStatus();
    summary::Event event;
    if (event.ParseFromString(*data)) each(event);
  }
}

absl::Status ReadEvents(FileSystem& files, const std::string& dir, uint64_t size_max,
                        const std::function<void(const summary::Event&)>& each,
                        const std::string& job) {
  const auto names = files.List(dir);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!IsEventFile(name) || IsOfAnotherJob(name, job)) continue;
    RETURN_IF_ERROR(ReadEventFile(files, dir + "/" + name, size_max, each));
  }
  return absl::OkStatus();
}

}  // namespace taas
