#include "operator/api/job_codec.h"

#include <string>

#include <nlohmann/json.hpp>

#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/api/tfjob_spec_codec.h"
#include "operator/api/training_job_spec_codec.h"
#include "operator/base/status.h"

namespace taas {
namespace {

absl::Status ReadMeta(const JsonField& meta, ObjectMeta* out) {
  RETURN_IF_ERROR(meta["namespace"].Read(&out->ns));
  RETURN_IF_ERROR(meta["name"].Read(&out->name));
  RETURN_IF_ERROR(meta["uid"].Read(&out->uid));
  RETURN_IF_ERROR(meta["resourceVersion"].Read(&out->resource_version));
  RETURN_IF_ERROR(meta["generation"].Read(&out->generation));
  RETURN_IF_ERROR(meta["creationTimestamp"].Read(&out->creation_time));
  return meta["deletionTimestamp"].Read(&out->deletion_time);
}

absl::Status ReadLedgerOf(const JsonField& annotation, Job* out) {
  if (!annotation.present()) return absl::OkStatus();
  std::string text;
  RETURN_IF_ERROR(annotation.Read(&text));
  ASSIGN_OR_RETURN(out->ledger, DecodeLedger(text));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Job> DecodeJob(JobKind kind, std::string_view json) {
  const std::string kind_name(DialectOf(kind).kind_name);
  absl::StatusOr<nlohmann::json> object = ParseJsonObject(json);
  if (!object.ok()) return Annotate(object.status(), "decode a " + kind_name);
  const JsonField root(&*object, "");
  Job job;
  job.kind = kind;
  RETURN_IF_ERROR(ReadMeta(root["metadata"], &job.meta)).With("decode a " + kind_name);
  const std::string what = "decode " + kind_name + " " + job.meta.ns + "/" + job.meta.name;
  const JsonField spec = root["spec"];
  RETURN_IF_ERROR(kind == JobKind::kTfJob ? ReadTfJobSpec(spec, &job.spec)
                                          : ReadTrainingJobSpec(spec, &job.spec))
      .With(what);
  RETURN_IF_ERROR(ReadStatus(kind, root["status"], &job.status)).With(what);
  RETURN_IF_ERROR(
      ReadLedgerOf(root["metadata"]["annotations"][std::string(kLedgerAnnotation)], &job))
      .With(what);
  return job;
}

}  // namespace taas
