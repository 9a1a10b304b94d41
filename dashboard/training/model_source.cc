#include "dashboard/training/model_source.h"

#include <chrono>
#include <optional>
#include <utility>

#include "dashboard/logs/log_text.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

std::optional<FolderPlace> PlaceOf(const ClaimDir& claim_dir, const std::string& ns,
                                   const std::optional<VolumePath>& place) {
  if (!place.has_value()) return std::nullopt;
  const std::string top = VolumeTop(claim_dir, ns, *place);
  if (top.empty()) return std::nullopt;
  return FolderPlace{.top = top, .below = place->below};
}

// Since when it may have written something. A later attempt goes on with what the ones before it
// have, and its start is that of the attempt.
std::chrono::nanoseconds BeginOf(const WatchedJob& job) {
  const bool first = job.status.attempt <= 1 && job.status.start_time.has_value();
  const auto begin = first ? job.status.start_time : job.meta.creation_time;
  return begin.value_or(Clock::WallTime()).time_since_epoch();
}

const char* NameOf(ModelFiles::Kind kind) {
  switch (kind) {
    case ModelFiles::Kind::kSafetensors:
      return "safetensors";
    case ModelFiles::Kind::kSavedModel:
      return "savedModel";
    case ModelFiles::Kind::kCheckpoint:
      break;
  }
  return "checkpoint";
}

ModelDownload DownloadOf(const std::string& job, ModelFiles files) {
  const std::string name = SafeFileName(job);
  // One file is safetensors, or a checkpoint's index, which stands for a model without variables.
  const bool safetensors = files.kind == ModelFiles::Kind::kSafetensors && !files.tar();
  ModelDownload download{.name = name + (safetensors ? ".safetensors" : ".tar"),
                         .kind = files.kind,
                         .bytes = nullptr};
  if (!files.tar() && !safetensors) download.name = SafeFileName(files.members[0].name);
  download.bytes = std::make_shared<ModelBytes>(std::move(files), name);
  return download;
}

}  // namespace

void ModelSource::Find(const WatchedJob& job, Done done) {
  const std::string what = "download the model of job " + job.key() + ": ";
  if (!job.ended()) {
    return done(absl::FailedPreconditionError(
        what + "the job goes on; download it when it is over, or write what there is with `taas "
               "export`"));
  }
  const std::string& ns = job.meta.ns;
  // Who exports has succeeded: another export in that place is of another run.
  const bool succeeded = job.status.state == JobState::kSucceeded;
  const ModelPlaces places{
      .exported = succeeded ? PlaceOf(context_.claim_dir, ns, job.exported) : std::nullopt,
      .saved_model = job.exported_saved_model,
      .checkpoints = PlaceOf(context_.claim_dir, ns, job.checkpoints),
      .since = BeginOf(job)};
  if (!places.exported.has_value() && !places.checkpoints.has_value()) {
    return done(absl::NotFoundError(
        what + (context_.claim_dir == nullptr
                    ? "the dashboard does not see the job's volumes; `taas export` writes the "
                      "model onto one of them"
                    : "it keeps none on a volume that stays (spec.trainer.checkpoint, and "
                      "spec.trainer.export of one that succeeds)")));
  }
  context_.disk.Post([what, places, name = job.meta.name, done = std::move(done),
                      &executor = context_.executor, alive = std::weak_ptr<bool>(alive_)] {
    auto model = std::make_shared<absl::StatusOr<ModelDownload>>(ModelDownload{});
    if (auto files = FindModelFiles(places); files.ok()) {
      *model = DownloadOf(name, *std::move(files));
    } else {
      *model = absl::NotFoundError(what + std::string(files.status().message()));
    }
    executor.Post([model, done, alive] {
      if (alive.lock() != nullptr) done(*model);
    });
  });
}

Json ModelOfferJson(const ModelDownload& model) {
  return {{"file", model.name}, {"kind", NameOf(model.kind)}, {"bytes", model.bytes->total()}};
}

}  // namespace taas::dashboard
