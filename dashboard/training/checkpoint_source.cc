#include "dashboard/training/checkpoint_source.h"

#include <utility>

#include "dashboard/training/checkpoint_folder.h"
#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// A job that has succeeded has saved its last step, wherever that is.
CheckpointList ByStatus(const WatchedJob& job) {
  CheckpointList list;
  const bool saved = job.status.state == JobState::kSucceeded &&
                     job.status.progress.has_value() && job.checkpoints.has_value();
  if (!saved) return list;
  list.from = CheckpointList::From::kStatus;
  list.newest = {{.step = job.status.progress->step, .saved_at = job.status.completion_time}};
  return list;
}

const char* NameOf(CheckpointList::From from) {
  switch (from) {
    case CheckpointList::From::kTrainer:
      return "trainer";
    case CheckpointList::From::kFolder:
      return "folder";
    case CheckpointList::From::kStatus:
      return "status";
    case CheckpointList::From::kNobody:
      break;
  }
  return "";
}

}  // namespace

void CheckpointSource::Fetch(const WatchedJob& job, const Pods& pods, Done done) {
  if (job.checkpoint_dir.empty()) return done({});
  if (job.checkpoints.has_value()) {
    const std::string top = VolumeTop(context_.claim_dir, job.meta.ns, *job.checkpoints);
    if (!top.empty()) return ReadFolder(top, job.checkpoints->below, done);
  }
  if (job.ended()) return done(ByStatus(job));
  context_.reports.Fetch(job, pods, [done = std::move(done)](const ReportReply& reply) {
    CheckpointList list;
    if (reply.report.has_value()) {
      list.from = CheckpointList::From::kTrainer;
      list.newest = reply.report->checkpoints;
    }
    done(list);
  });
}

void CheckpointSource::ReadFolder(const std::string& top, const std::string& below,
                                  const Done& done) {
  context_.disk.Post([this, top, below, done, alive = std::weak_ptr<bool>(alive_)] {
    CheckpointList list{.from = CheckpointList::From::kFolder,
                        .folder = below.empty() ? top : top + "/" + below,
                        .newest = {}};
    // One that is not there yet has none.
    if (auto read = ListCheckpointFolder(top, below); read.ok()) list.newest = *std::move(read);
    context_.executor.Post([list = std::move(list), done, alive] {
      if (alive.lock() != nullptr) done(list);
    });
  });
}

Json CheckpointsJson(const WatchedJob& job, const CheckpointList& list) {
  if (job.checkpoint_dir.empty()) return nullptr;
  Json out = {{"dir", job.checkpoint_dir}, {"newest", Json::array()}};
  if (job.checkpoints.has_value()) {
    const VolumePath& place = *job.checkpoints;
    if (!place.claim.empty()) out["claim"] = place.claim;
    if (!place.host_path.empty()) out["hostPath"] = place.host_path;
  }
  if (!list.folder.empty()) out["folder"] = list.folder;
  if (list.from != CheckpointList::From::kNobody) out["from"] = NameOf(list.from);
  for (const SavedCheckpoint& one : list.newest) {
    Json entry = {{"step", one.step}};
    if (one.bytes > 0) entry["bytes"] = one.bytes;
    if (one.saved_at.has_value()) entry["savedAt"] = FormatRfc3339(*one.saved_at);
    out["newest"].push_back(std::move(entry));
  }
  return out;
}

std::string SeenCheckpoints(const WatchedJob& job, const CheckpointList& list) {
  using From = CheckpointList::From;
  const bool seen = list.from == From::kTrainer || list.from == From::kFolder;
  return seen && !list.newest.empty() ? DumpJson(CheckpointsJson(job, list)) : "";
}

}  // namespace taas::dashboard
