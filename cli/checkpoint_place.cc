#include "cli/checkpoint_place.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cli/job_facts.h"
#include "cli/tfjob_trainer.h"
#include "operator/plan/mounted_path.h"
#include "operator/plan/use_pod.h"

namespace taas {
namespace {

namespace fs = std::filesystem;

// Files in a folder that are looked at: a directory of checkpoints has a few for each that is kept.
constexpr size_t kFilesMax = 100'000;

std::string SizeText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
  double number = static_cast<double>(bytes);
  size_t unit = 0;
  while (number >= 999.5) {
    number /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", number, kUnits[unit]);
  return text;
}

// N of "model.ckpt-N.index" and of its data files.
std::optional<int64_t> StepOf(std::string_view name) {
  constexpr std::string_view kName = "model.ckpt-";
  if (!name.starts_with(kName)) return std::nullopt;
  name.remove_prefix(kName.size());
  int64_t step = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool more = error == std::errc() && rest != name.data() + name.size() && *rest == '.';
  return more ? std::optional<int64_t>(step) : std::nullopt;
}

}  // namespace

std::optional<CheckpointPlace> CheckpointPlaceOf(const SeenJob& job) {
  const std::string& dir = job.spec.trainer.checkpoint_dir;
  if (!job.spec_known || !job.spec.bundled_trainer || dir.empty()) return std::nullopt;
  if (job.spec.roles.count(UseRole(job)) == 0) return std::nullopt;
  const absl::StatusOr<nlohmann::json> pod = UsePodJson(job, {});
  if (!pod.ok()) return std::nullopt;
  CheckpointPlace place{.dir = dir};
  if (const auto at = FindMountedPath(*pod, UseContainer(*pod), dir); at.has_value()) {
    place.volume = at->claim.empty() ? "volume " + at->volume : "claim " + at->claim;
    place.stays = !at->ends_with_pod;
    if (at->inside.has_value()) {
      place.claim = at->claim;
      place.inside = *at->inside;
    }
  }
  const bool saved = job.status_known && job.status.state == JobState::kSucceeded;
  if (saved && place.stays && job.status.progress.has_value()) {
    place.step = job.status.progress->step;
  }
  return place;
}

void LookInFolder(const std::string& claim_folder, CheckpointPlace* place) {
  if (claim_folder.empty()) return;
  place->folder = claim_folder + (place->inside.empty() ? "" : "/" + place->inside);
  std::optional<int64_t> newest;
  uint64_t bytes = 0;
  std::error_code error;
  size_t left = kFilesMax;
  fs::directory_iterator file(place->folder, error);
  for (; !error && file != fs::directory_iterator() && left > 0; file.increment(error), --left) {
    const std::optional<int64_t> step = StepOf(file->path().filename().string());
    if (!step.has_value() || (newest.has_value() && *step < *newest)) continue;
    if (step != newest) bytes = 0;
    newest = step;
    std::error_code unknown;
    const uintmax_t size = file->file_size(unknown);
    if (!unknown) bytes += size;
  }
  place->step = newest;
  if (newest.has_value()) place->bytes = bytes;
}

std::string PlaceText(const CheckpointPlace& place) {
  std::string text = place.dir;
  if (!place.volume.empty()) text += " on " + place.volume;
  if (place.volume.empty()) text += ", on no volume";
  if (!place.stays && !place.volume.empty()) text += ", which ends with its pod";
  if (place.step.has_value()) text += ", step " + std::to_string(*place.step);
  if (place.bytes.has_value()) text += ", " + SizeText(*place.bytes);
  return text;
}

std::vector<std::string> CheckpointLines(const Job& job, const CheckpointPlace& place) {
  const bool succeeded = job.status.state == JobState::kSucceeded;
  if (!place.stays) {
    if (!succeeded) return {};
    return {"Nothing is left of the model: its checkpoints were in " + PlaceText(place) +
            "; put them on a persistentVolumeClaim (" + std::string(VolumesField(job)) + ")"};
  }
  // Of a job that failed nobody knows, unless the folder was looked into.
  if (!place.step.has_value()) return {};
  std::vector<std::string> lines = {"Newest checkpoint: " + PlaceText(place)};
  if (!place.folder.empty()) lines.push_back("On this machine: " + place.folder);
  if (place.volume.empty()) {
    lines.push_back("The next job with this checkpoint.dir goes on from there.");
  }
  const std::string& name = job.meta.name;
  const std::string more = LearnsTexts(job)
                               ? "`taas generate " + name + " --prompt TEXT` writes with it, "
                               : "`taas predict " + name + "` asks it about examples, ";
  lines.push_back("`taas eval " + name + "` evaluates it, " + more +
                  "`taas export` takes it to other programs.");
  return lines;
}

}  // namespace taas
