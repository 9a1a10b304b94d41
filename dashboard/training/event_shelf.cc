#include "dashboard/training/event_shelf.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dashboard/events/curve_routes.h"
#include "dashboard/events/histogram_routes.h"
#include "dashboard/events/tensorboard_routes.h"
#include "operator/base/directory.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

void Warn(const absl::Status& status) {
  if (status.ok()) return;
  Log(LogLevel::kWarning, "copies of event files", {{"why", std::string(status.message())}});
}

// From directory to directory: whoever writes into the volume may have put a link or a pipe there.
absl::StatusOr<Directory> OpenRun(const std::string& top, const std::string& run) {
  ASSIGN_OR_RETURN(Directory directory, Directory::Open(top, Links::kRefused));
  for (size_t at = 0; at < run.size();) {
    const size_t end = std::min(run.find('/', at), run.size());
    const std::string part = run.substr(at, end - at);
    if (part != ".") {
      ASSIGN_OR_RETURN(directory, directory.OpenDirectoryIn(part));
    }
    at = end + 1;
  }
  return directory;
}

}  // namespace

EventShelf::EventShelf(FileSystem& files, Options options)
    : files_(files), options_(std::move(options)) {
  Warn(files_.RemoveAll(options_.dir));
}

EventShelf::~EventShelf() { Warn(files_.RemoveAll(options_.dir)); }

EventShelf::Job& EventShelf::JobOf(const std::string& uid) {
  Job& job = jobs_[uid];
  if (jobs_.size() > options_.jobs_max) DropOldestBut(uid, /*in_place_too=*/true);
  if (job.dir.empty()) job.dir = options_.dir + "/" + std::to_string(++last_number_);
  job.last_asked = ++asked_;
  return job;
}

void EventShelf::ReadInPlace(const std::string& uid, const std::string& dir,
                             const std::string& name) {
  Job& job = jobs_[uid];
  if (job.dir == dir) return;
  for (const auto& [unused, size] : job.sizes) bytes_ -= size;
  if (!job.dir.empty() && !job.in_place) Warn(files_.RemoveAll(job.dir));
  job = {.dir = dir, .in_place = true, .name = name};
}

std::vector<EventShelf::Part> EventShelf::Missing(const std::string& uid,
                                                  const std::vector<EventFileEntry>& listed,
                                                  bool complete) {
  Job& job = JobOf(uid);
  std::set<std::string> paths;
  for (const EventFileEntry& file : listed) paths.insert(file.path());
  std::vector<std::string> gone;
  for (const auto& [path, unused] : job.sizes) {
    if (complete && paths.count(path) == 0) gone.push_back(path);
  }
  for (const EventFileEntry& file : listed) {
    const auto kept = job.sizes.find(file.path());
    if (kept != job.sizes.end() && file.bytes < kept->second) gone.push_back(file.path());
  }
  for (const std::string& path : gone) Drop(job, path);
  uint64_t left = options_.job_bytes_max;
  for (const auto& [unused, bytes] : job.sizes) left -= std::min(left, bytes);
  std::vector<Part> parts;
  for (const EventFileEntry& file : listed) {
    const auto kept = job.sizes.find(file.path());
    const uint64_t from = kept == job.sizes.end() ? 0 : kept->second;
    const uint64_t to = from + std::min(file.bytes - from, left);
    if (to <= from) continue;
    left -= to - from;
    parts.push_back({.path = file.path(), .from = from, .to = to});
  }
  return parts;
}

absl::Status EventShelf::Append(const std::string& uid, const std::string& path, uint64_t from,
                                std::string_view bytes) {
  MakeRoom(uid, bytes.size());
  Job& job = JobOf(uid);
  uint64_t& size = job.sizes[path];
  if (size != from) {
    return absl::FailedPreconditionError("copy of " + path + ": has " + std::to_string(size) +
                                         " bytes and not " + std::to_string(from));
  }
  const std::string full = job.dir + "/" + path;
  RETURN_IF_ERROR(files_.MakeDirs(DirName(full)));
  ASSIGN_OR_RETURN(const auto file, files_.OpenAppend(full));
  const absl::Status appended = file->Append(bytes);
  if (!appended.ok()) {
    // Nobody knows how much of it is there.
    Drop(job, path);
    return appended;
  }
  size += bytes.size();
  bytes_ += bytes.size();
  return file->Close();
}

Answer EventShelf::Ask(const std::string& uid, std::string_view path, QueryPairs query) {
  const RunSet& runs = Read(uid);
  if (path == kCurvesPath) return AnswerCurves(runs);
  if (path.starts_with("/data/histograms/") || path == "/data/problems") {
    return AnswerHistogramRoutes(runs, path, query);
  }
  return AnswerTensorBoard(runs, path, query);
}

EventShelf::Kept EventShelf::About(const std::string& uid) {
  const RunSet& runs = Read(uid);
  Kept kept = Measure(JobOf(uid));
  kept.runs = runs.readers().size();
  kept.problems = runs.Problems();
  return kept;
}

EventShelf::Kept EventShelf::Measure(const Job& job) const {
  Kept kept;
  for (const auto& [unused, bytes] : job.sizes) {
    ++kept.files;
    kept.bytes += bytes;
  }
  if (!job.in_place) return kept;
  for (const auto& [run, unused] : job.runs->readers()) {
    const auto directory = OpenRun(job.dir, run);
    if (!directory.ok()) continue;
    const auto entries = directory->List(kEntriesMax);
    if (!entries.ok()) continue;
    for (const Directory::Entry& entry : *entries) {
      if (!IsEventFileOf(job.name, entry.name)) continue;
      const auto file = directory->OpenFileIn(entry.name);
      if (!file.ok()) continue;
      const auto identity = file->Identity();
      if (!identity.ok()) continue;
      ++kept.files;
      kept.bytes += identity->size;
    }
  }
  return kept;
}

RunSet& EventShelf::Read(const std::string& uid) {
  Job& job = JobOf(uid);
  if (job.runs == nullptr) {
    job.runs = std::make_unique<RunSet>(
        job.dir, RunSetOptions{.memory_max = options_.memory_max, .job = job.name});
    std::vector<Job*> open;
    for (auto& [unused, other] : jobs_) {
      if (other.runs != nullptr) open.push_back(&other);
    }
    if (open.size() > options_.open_max) {
      (*std::ranges::min_element(open, {}, &Job::last_asked))->runs.reset();
    }
  }
  job.runs->Refresh();
  return *job.runs;
}

void EventShelf::Drop(Job& job, const std::string& path) {
  const auto size = job.sizes.find(path);
  if (size == job.sizes.end()) return;
  bytes_ -= size->second;
  job.sizes.erase(size);
  Warn(files_.Remove(job.dir + "/" + path));
}

void EventShelf::MakeRoom(const std::string& uid, uint64_t bytes) {
  while (bytes_ + bytes > options_.bytes_max && DropOldestBut(uid, /*in_place_too=*/false)) {
  }
}

bool EventShelf::DropOldestBut(const std::string& uid, bool in_place_too) {
  auto oldest = jobs_.end();
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (job->first == uid || (job->second.in_place && !in_place_too)) continue;
    if (oldest == jobs_.end() || job->second.last_asked < oldest->second.last_asked) oldest = job;
  }
  if (oldest == jobs_.end()) return false;
  for (const auto& [unused, size] : oldest->second.sizes) bytes_ -= size;
  if (!oldest->second.in_place) Warn(files_.RemoveAll(oldest->second.dir));
  jobs_.erase(oldest);
  return true;
}

}  // namespace taas::dashboard
