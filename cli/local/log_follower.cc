#include "cli/local/log_follower.h"

#include <algorithm>
#include <utility>

#include "operator/api/job.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// Enough for the sentence a program dies with and what it did before.
constexpr size_t kLastLines = 20;
constexpr size_t kReadBytes = 256 << 10;

std::string Text(const Json& object, std::string_view key) {
  if (!object.is_object()) return "";
  const auto it = object.find(std::string(key));
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

// The text of a record "TIME stream F text".
std::string RecordText(const std::string& record) {
  size_t at = 0;
  for (int field = 0; field < 3; ++field) {
    at = record.find(' ', at);
    if (at == std::string::npos) return record;
    ++at;
  }
  return record.substr(at);
}

}  // namespace

LogFollower::LogFollower(localkube::Store& store, localkube::LogSource& logs, const std::string& ns)
    : logs_(logs), ns_(ns) {
  auto watch = store.Watch({.resource = "pods", .ns = ns},
                           [this](const localkube::StoreEvent& event) { OnEvent(event); });
  if (watch.ok()) watch_ = *std::move(watch);
}

LogFollower::~LogFollower() { watch_.reset(); }

void LogFollower::OnEvent(const localkube::StoreEvent& event) {
  if (event.text == nullptr) return;
  const Json pod = Json::parse(*event.text, nullptr, /*allow_exceptions=*/false);
  const Json meta = pod.value("metadata", Json::object());
  const Json labels = meta.value("labels", Json::object());
  SeenPod seen;
  seen.name = Text(meta, "name");
  seen.label = Text(labels, kRoleLabel);
  seen.label = seen.label.empty() ? seen.name : seen.label + "-" + Text(labels, kIndexLabel);
  const Json spec = pod.value("spec", Json::object());
  for (const Json& container : spec.value("containers", Json::array())) {
    seen.containers.push_back(Text(container, "name"));
  }
  seen.failed = Text(pod.value("status", Json::object()), "phase") == "Failed";
  std::lock_guard lock(mutex_);
  SeenPod& kept = seen_[Text(meta, "uid")];
  seen.failed = seen.failed || kept.failed;
  kept = std::move(seen);
}

std::vector<std::string> LogFollower::Take() {
  std::map<std::string, SeenPod> seen;
  {
    std::lock_guard lock(mutex_);
    seen = seen_;
  }
  std::vector<std::string> lines;
  for (const auto& [uid, pod] : seen) {
    for (const std::string& container : pod.containers) {
      Followed& followed = followed_[{uid, container}];
      if (followed.reader == nullptr && !followed.ended) {
        auto reader = logs_.Open({.ns = ns_, .pod = pod.name, .uid = uid, .container = container});
        if (!reader.ok()) continue;  // Not started yet.
        followed.reader = *std::move(reader);
        followed.label = pod.containers.size() > 1 ? pod.label + "/" + container : pod.label;
      }
      Read(&followed, &lines);
    }
  }
  return lines;
}

void LogFollower::Read(Followed* followed, std::vector<std::string>* lines) {
  while (followed->reader != nullptr) {
    const absl::StatusOr<localkube::LogChunk> chunk = followed->reader->Read(kReadBytes);
    if (!chunk.ok() || chunk->ended) followed->ended = true;
    const std::string data = chunk.ok() ? chunk->data : "";
    for (size_t begin = 0; begin < data.size();) {
      const size_t end = std::min(data.find('\n', begin), data.size());
      lines->push_back("[" + followed->label + "] " + RecordText(data.substr(begin, end - begin)));
      followed->last.push_back(lines->back());
      begin = end + 1;
    }
    if (followed->last.size() > kLastLines) {
      followed->last.erase(followed->last.begin(), followed->last.end() - kLastLines);
    }
    if (followed->ended) followed->reader.reset();
    if (data.empty()) return;
  }
}

std::vector<std::string> LogFollower::LastLinesOfFailed() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [key, followed] : followed_) {
    const auto pod = seen_.find(key.first);
    if (pod == seen_.end() || !pod->second.failed || followed.last.empty()) continue;
    lines.push_back("last lines of pod " + pod->second.name + ":");
    lines.insert(lines.end(), followed.last.begin(), followed.last.end());
  }
  return lines;
}

}  // namespace taas
