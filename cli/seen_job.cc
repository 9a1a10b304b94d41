#include "cli/seen_job.h"

#include "cli/tfjob_trainer.h"
#include "operator/api/dialect.h"
#include "operator/api/job_codec.h"
#include "operator/api/json_field.h"
#include "operator/base/status.h"
#include "operator/kube/pod_decoder.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// Without its status and the operator's annotations, which say nothing to a reader.
absl::StatusOr<Job> DecodeSpec(JobKind kind, Json object) {
  object.erase("status");
  if (object["metadata"].is_object()) object["metadata"].erase("annotations");
  return DecodeJob(kind, DumpJson(object));
}

}  // namespace

absl::StatusOr<SeenJob> ReadSeenJob(JobKind kind, std::string_view json) {
  absl::StatusOr<Job> whole = DecodeJob(kind, json);
  // Documents that are nested without end are not gone into any further.
  const absl::StatusOr<Json> object = ParseJsonObject(json);
  JobStatus status;
  const absl::Status status_read =
      object.ok() ? ReadStatus(kind, JsonField(&*object, "")["status"], &status) : object.status();
  if (whole.ok() && status_read.ok()) {
    TakeTrainerOfTemplate(&*whole);
    return SeenJob(*std::move(whole));
  }
  const auto rest = DecodeOwnedObject(json);
  if (!rest.ok()) return whole.ok() ? rest.status() : whole.status();
  SeenJob job;
  job.kind = kind;
  job.meta = rest->meta;
  absl::StatusOr<Job> spec = object.ok() ? DecodeSpec(kind, *object) : object.status();
  job.spec_known = spec.ok();
  if (spec.ok()) job.spec = std::move(spec->spec);
  TakeTrainerOfTemplate(&job);
  // Of several flaws the one that hides most.
  const std::string what = "decode " + std::string(DialectOf(kind).kind_name) + " " + job.meta.ns +
                           "/" + job.meta.name;
  job.unreadable = job.spec_known && !status_read.ok() ? Annotate(status_read, what)
                                                       : whole.status();
  job.status_known = status_read.ok();
  if (status_read.ok()) job.status = std::move(status);
  return job;
}

}  // namespace taas
