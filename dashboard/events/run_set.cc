#include "dashboard/events/run_set.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace taas::dashboard {
namespace {

// Of TensorBoard's two rules, what makes a directory a run and what it reads of it, the second.
bool IsRead(const std::string& name) { return !name.ends_with(".profile-empty"); }

// No machine's name has the underscore, nor has that of a job or a namespace.
constexpr char kOfJob[] = ".of_";

constexpr char kTopName[] = ".";

std::string NameBelow(const std::string& name, const std::string& entry) {
  return name == kTopName ? entry : name + "/" + entry;
}

bool IsAtOrBelow(std::string_view name, std::string_view directory) {
  return directory == kTopName || name == directory ||
         (name.starts_with(directory) && name[directory.size()] == '/');
}

}  // namespace

bool IsEventFileOf(const std::string& job, const std::string& name) {
  if (name.find("tfevents") == std::string::npos) return false;
  const size_t at = name.find(kOfJob);
  if (job.empty() || at == std::string::npos) return true;
  std::string writer = name.substr(at + sizeof(kOfJob) - 1);
  std::ranges::replace(writer, '_', '/');
  return writer == job;
}

struct RunSet::Walk {
  uint64_t bytes_left = 0;
  bool is_done = true;
  size_t entries_left = kEntriesMax;
  std::set<std::string> found;
  std::vector<std::string> unreadable;     // Directories whose runs are kept as they are.
  std::vector<FileIdentity> on_the_way;  // From the top to where the walk is.
};

bool RunSet::Refresh(uint64_t most) {
  Walk walk{.bytes_left = most};
  problems_.clear();
  VisitTop(&walk);
  std::erase_if(readers_, [&](const auto& reader) {
    return !walk.found.contains(reader.first) &&
           std::ranges::none_of(walk.unreadable, [&](const std::string& directory) {
             return IsAtOrBelow(reader.first, directory);
           });
  });
  return walk.is_done;
}

void RunSet::VisitTop(Walk* walk) {
  const Links links = options_.follow_links ? Links::kFollowed : Links::kRefused;
  const absl::StatusOr<Directory> top = Directory::Open(top_, links);
  if (top.ok()) return Visit(*top, kTopName, walk);
  if (!absl::IsNotFound(top.status())) GiveUp(kTopName, std::string(top.status().message()), walk);
}

void RunSet::Note(const std::string& run, std::string what) {
  if (problems_.size() < kWalkProblemsMax) {
    problems_.push_back({.run = run, .problem = {.what = std::move(what)}});
  }
}

void RunSet::GiveUp(const std::string& name, std::string why, Walk* walk) {
  walk->unreadable.push_back(name);
  Note(name, std::move(why));
}

void RunSet::Visit(const Directory& directory, const std::string& name, Walk* walk) {
  const absl::StatusOr<FileIdentity> identity = directory.Identity();
  const auto entries = directory.List(walk->entries_left);
  if (!identity.ok()) return GiveUp(name, std::string(identity.status().message()), walk);
  if (!entries.ok()) return GiveUp(name, std::string(entries.status().message()), walk);
  const bool is_circle = std::ranges::any_of(
      walk->on_the_way, [&](const FileIdentity& other) { return identity->IsSameFileAs(other); });
  if (is_circle) return;
  walk->on_the_way.push_back(*identity);
  walk->entries_left -= entries->size();
  bool is_run = false;
  std::vector<std::string> names;
  for (const Directory::Entry& entry : *entries) {
    if (entry.kind == Directory::Entry::Kind::kDirectory) {
      VisitSubdirectory(directory, entry.name, NameBelow(name, entry.name), walk);
    } else if (IsEventFileOf(options_.job, entry.name)) {
      is_run = true;
      if (IsRead(entry.name)) names.push_back(entry.name);
    } else if (entry.kind == Directory::Entry::Kind::kRefusedLink) {
      Note(NameBelow(name, entry.name), "it is a symbolic link, which is not followed");
    }
  }
  if (is_run) RefreshRun(directory, names, name, walk);
  walk->on_the_way.pop_back();
}

void RunSet::VisitSubdirectory(const Directory& parent, const std::string& entry,
                               const std::string& name, Walk* walk) {
  if (walk->on_the_way.size() >= kDepthMax) {
    return GiveUp(name, "directories are not searched deeper than " + std::to_string(kDepthMax),
                  walk);
  }
  const absl::StatusOr<Directory> directory = parent.OpenDirectoryIn(entry);
  if (directory.ok()) return Visit(*directory, name, walk);
  if (absl::IsNotFound(directory.status())) return;
  GiveUp(name, std::string(directory.status().message()), walk);
}

void RunSet::RefreshRun(const Directory& directory, const std::vector<std::string>& names,
                        const std::string& name, Walk* walk) {
  auto found = readers_.find(name);
  if (found == readers_.end()) {
    if (readers_.size() >= kRunsMax) {
      return Note(name, "it is left out: there are " + std::to_string(kRunsMax) + " runs already");
    }
    found = readers_.emplace(name, std::make_unique<RunReader>(&memory_)).first;
  }
  walk->found.insert(name);
  if (!found->second->Refresh(directory, names, &walk->bytes_left, &buffer_)) {
    walk->is_done = false;
  }
}

const Run* RunSet::Find(std::string_view name) const {
  const auto found = readers_.find(name);
  return found == readers_.end() ? nullptr : &found->second->run();
}

std::vector<std::string> RunSet::NamesByStart() const {
  std::vector<std::pair<double, std::string>> starts;
  for (const auto& [name, reader] : readers_) {
    const double start = reader->run().first_wall().value_or(HUGE_VAL);
    starts.emplace_back(std::isnan(start) ? HUGE_VAL : start, name);
  }
  std::ranges::sort(starts);
  std::vector<std::string> names;
  names.reserve(starts.size());
  for (auto& [start, name] : starts) names.push_back(std::move(name));
  return names;
}

std::vector<RunProblem> RunSet::Problems() const {
  std::vector<RunProblem> all = problems_;
  for (const auto& [name, reader] : readers_) {
    for (Problem& problem : reader->Problems()) {
      all.push_back({.run = name, .problem = std::move(problem)});
    }
  }
  return all;
}

}  // namespace taas::dashboard
