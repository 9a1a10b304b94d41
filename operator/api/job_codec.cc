#include "operator/api/job_codec.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/api/tfjob_spec_codec.h"
#include "operator/api/training_job_spec_codec.h"
#include "operator/base/status.h"
#include "third_party/json.h"

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

// Programs that are controllers of TFJobs, by how their names begin; `manager` is how the image of
// training-operator calls its program.
constexpr std::string_view kControllers[] = {"training-operator", "tf-operator", "kubedl"};

bool IsController(std::string_view manager) {
  if (manager == "manager") return true;
  return std::any_of(std::begin(kControllers), std::end(kControllers),
                     [&](std::string_view name) { return manager.starts_with(name); });
}

// The server notes who wrote which fields when: it costs neither a request nor a right.
absl::Status ReadOtherController(const JsonField& managed, std::optional<OtherController>* out) {
  ASSIGN_OR_RETURN(const std::vector<JsonField> entries, managed.Items());
  for (const JsonField& entry : entries) {
    std::string subresource;
    OtherController writer;
    RETURN_IF_ERROR(entry["subresource"].Read(&subresource));
    RETURN_IF_ERROR(entry["manager"].Read(&writer.name));
    if (subresource != "status" || !IsController(writer.name)) continue;
    RETURN_IF_ERROR(entry["time"].Read(&writer.wrote_at));
    if (!out->has_value() || (*out)->wrote_at < writer.wrote_at) *out = std::move(writer);
  }
  return absl::OkStatus();
}

size_t BytesBesideTheLedger(const JsonField& annotations) {
  size_t bytes = 0;
  if (!annotations.present() || !annotations.json().is_object()) return bytes;
  for (const auto& [name, value] : annotations.json().items()) {
    if (name == kLedgerAnnotation || !value.is_string()) continue;
    bytes += name.size() + value.get_ref<const std::string&>().size();
  }
  return bytes;
}

absl::Status ReadLedgerOf(const JsonField& annotation, Job* out) {
  if (!annotation.present()) return absl::OkStatus();
  std::string text;
  RETURN_IF_ERROR(annotation.Read(&text));
  ASSIGN_OR_RETURN(out->ledger, DecodeLedger(text));
  return absl::OkStatus();
}

absl::Status ReadStatusOf(const JsonField& status, Job* out) {
  const absl::Status read = ReadStatus(out->kind, status, &out->status);
  if (read.ok()) return read;
  // Another controller's: what it says is all that there is to know of a job that is not ours yet.
  if (out->other_controller.has_value() && !out->ledger.has_value()) return read;
  out->status = {};
  out->unreadable_status = status.Text();
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
  if (kind == JobKind::kTfJob) {
    RETURN_IF_ERROR(ReadOtherController(root["metadata"]["managedFields"], &job.other_controller))
        .With(what);
  }
  const JsonField spec = root["spec"];
  RETURN_IF_ERROR(kind == JobKind::kTfJob ? ReadTfJobSpec(spec, &job.spec)
                                          : ReadTrainingJobSpec(spec, &job.spec))
      .With(what);
  const JsonField annotations = root["metadata"]["annotations"];
  if (kind == JobKind::kTfJob) {
    const JsonField deadline = annotations[std::string(kPendingDeadlineAnnotation)];
    RETURN_IF_ERROR(ReadPendingDeadline(deadline, &job.spec)).With(what);
  }
  job.other_annotation_bytes = BytesBesideTheLedger(annotations);
  RETURN_IF_ERROR(ReadLedgerOf(annotations[std::string(kLedgerAnnotation)], &job)).With(what);
  RETURN_IF_ERROR(ReadStatusOf(root["status"], &job)).With(what);
  return job;
}

}  // namespace taas
