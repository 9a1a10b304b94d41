#include "operator/controller/job_writer.h"

#include <cstdio>

#include "nlohmann/json.hpp"
#include "operator/api/defaults.h"
#include "operator/api/training_job_codec.h"
#include "operator/base/log.h"
#include "operator/controller/merge_patch.h"
#include "operator/kube/api_error.h"
#include "operator/kube/api_path.h"
#include "operator/plan/pod_json.h"

namespace taas {
namespace {

using nlohmann::json;
using Kind = WriteResult::Kind;

constexpr char kMergePatch[] = "application/merge-patch+json";
// etcd's limit of an event's message.
constexpr size_t kEventMessageBytesMax = 1024;

enum class Answer { kDone, kExists, kConflict, kMissing, kUnknown, kLater, kRefused };

// The one table of what an answer to a write means.
Answer Classify(const absl::StatusOr<HttpReply>& reply) {
  if (!reply.ok()) {
    // Unknown and DeadlineExceeded: the request may have arrived.
    const bool not_sent = reply.status().code() == absl::StatusCode::kUnavailable ||
                          reply.status().code() == absl::StatusCode::kAborted;
    return not_sent ? Answer::kLater : Answer::kUnknown;
  }
  const int code = reply->code;
  if (code >= 200 && code < 300) return Answer::kDone;
  switch (code) {
    case 404:
      return Answer::kMissing;
    case 409:
      return ApiReason(StatusOfReply(*reply, "")) == "AlreadyExists" ? Answer::kExists
                                                                      : Answer::kConflict;
    case 401:
    case 429:
    case 503:
      return Answer::kLater;
    default:
      return code >= 500 ? Answer::kUnknown : Answer::kRefused;
  }
}

std::string Cause(const absl::StatusOr<HttpReply>& reply, const std::string& what) {
  const absl::Status status = reply.ok() ? StatusOfReply(*reply, what) : reply.status();
  return reply.ok() ? std::string(status.message()) : what + ": " + std::string(status.message());
}

WriteResult Later(const absl::StatusOr<HttpReply>& reply, const std::string& what) {
  return {.kind = Kind::kLater,
          .message = Cause(reply, what),
          .after = reply.ok() ? reply->retry_after : std::chrono::seconds(0)};
}

WriteResult Refused(const absl::StatusOr<HttpReply>& reply, const std::string& what) {
  return {.kind = Kind::kRefused,
          .message = Cause(reply, what),
          .reason = reply.ok() ? ApiReason(StatusOfReply(*reply, what)) : ""};
}

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

JobWriter::JobWriter(KubeTransport& transport, Executor& executor, Random& random,
                     ClusterView& view)
    : transport_(transport), executor_(executor), random_(random), view_(view) {}

JobWriter::~JobWriter() = default;

void JobWriter::Send(HttpRequest request, OnReply done) {
  transport_.Do(std::move(request), [alive = std::weak_ptr<bool>(alive_), done = std::move(done)](
                                        absl::StatusOr<HttpReply> reply) {
    if (alive.lock() != nullptr) done(std::move(reply));
  });
}

void JobWriter::Create(const Job& job, const CreatePod& step, Done done) {
  const std::string what = "create pod " + step.pod.ns + "/" + step.pod.name;
  absl::StatusOr<std::string> body = PodJson(step.pod);
  if (!body.ok()) {
    return done({.kind = Kind::kRefused, .message = std::string(body.status().message())});
  }
  HttpRequest request{.verb = Verb::kPost, .path = CollectionPath(Resource::kPods, step.pod.ns)};
  request.body = *std::move(body);
  Send(std::move(request), [this, job, what, name = step.pod.name, done](auto reply) {
    switch (Classify(reply)) {
      case Answer::kDone: {
        auto pod = DecodePod(reply->body);
        if (!pod.ok()) return ReadPodBack(job, name, what, done);
        view_.Observe(*std::move(pod));
        return done({});
      }
      case Answer::kExists:
      case Answer::kUnknown:
        return ReadPodBack(job, name, what, done);
      case Answer::kConflict:
      case Answer::kLater:
        return done(Later(reply, what));
      case Answer::kMissing:
      case Answer::kRefused:
        return done(Refused(reply, what));
    }
  });
}

// Ours: the create was applied, now or earlier. Not there: it was not.
void JobWriter::ReadPodBack(const Job& job, const std::string& name, const std::string& what,
                            Done done) {
  Send({.path = ObjectPath(Resource::kPods, job.meta.ns, name)},
       [this, job, what, done](absl::StatusOr<HttpReply> reply) {
         if (Classify(reply) == Answer::kMissing) {
           return done({.kind = Kind::kLater, .message = what});
         }
         if (Classify(reply) != Answer::kDone) return done(Later(reply, what));
         auto pod = DecodePod(reply->body);
         if (!pod.ok()) {
           return done({.kind = Kind::kLater,
                        .message = what + ": " + std::string(pod.status().message())});
         }
         if (pod->owner_uid == job.meta.uid && pod->job == job.meta.name) {
           view_.Observe(*std::move(pod));
           return done({});
         }
         WriteResult taken{.kind = Kind::kTaken, .message = what + ": the name is taken"};
         taken.pod = *std::move(pod);
         done(std::move(taken));
       });
}

void JobWriter::Create(const Job& job, const CreateService& step, Done done) {
  const std::string what = "create service " + step.ns + "/" + step.name;
  HttpRequest request{.verb = Verb::kPost, .path = CollectionPath(Resource::kServices, step.ns)};
  request.body = ServiceJson(step);
  Send(std::move(request), [this, job, what, done](absl::StatusOr<HttpReply> reply) {
    switch (Classify(reply)) {
      case Answer::kDone: {
        auto service = DecodeOwnedObject(reply->body);
        if (!service.ok()) return ReadServiceBack(job, what, done);
        view_.Observe(*std::move(service));
        return done({});
      }
      case Answer::kExists:
      case Answer::kUnknown:
        return ReadServiceBack(job, what, done);
      case Answer::kConflict:
      case Answer::kLater:
        return done(Later(reply, what));
      case Answer::kMissing:
      case Answer::kRefused:
        return done(Refused(reply, what));
    }
  });
}

void JobWriter::ReadServiceBack(const Job& job, const std::string& what, Done done) {
  Send({.path = ObjectPath(Resource::kServices, job.meta.ns, job.meta.name)},
       [this, job, what, done](absl::StatusOr<HttpReply> reply) {
         if (Classify(reply) == Answer::kMissing) {
           return done({.kind = Kind::kLater, .message = what});
         }
         if (Classify(reply) != Answer::kDone) return done(Later(reply, what));
         auto service = DecodeOwnedObject(reply->body);
         if (!service.ok()) return done(Later(reply, what));
         if (service->owner_uid == job.meta.uid) {
           view_.Observe(*std::move(service));
           return done({});
         }
         done({.kind = Kind::kTaken,
               .message = what + ": the name is taken",
               .owner_uid = service->owner_uid});
       });
}

void JobWriter::Delete(const DeletePod& step, Done done) {
  const std::string what = "delete pod " + step.ns + "/" + step.name;
  json options = {{"apiVersion", "v1"},
                  {"kind", "DeleteOptions"},
                  {"preconditions",
                   {{"uid", step.uid}, {"resourceVersion", step.resource_version}}}};
  if (step.force) options["gracePeriodSeconds"] = 0;
  HttpRequest request{.verb = Verb::kDelete,
                      .path = ObjectPath(Resource::kPods, step.ns, step.name)};
  request.body = Dump(options);
  Send(std::move(request), [this, step, what, done](absl::StatusOr<HttpReply> reply) {
    switch (Classify(reply)) {
      case Answer::kDone: {
        // A pod that has to end first comes back with its deletion time; anything else is gone.
        auto pod = DecodePod(reply->body);
        const bool dying = pod.ok() && pod->meta.uid == step.uid &&
                           pod->meta.deletion_time.has_value();
        if (dying) {
          view_.Observe(*std::move(pod));
          return done({});
        }
        return ReadDeletedBack(step, what, done);
      }
      case Answer::kMissing:
      case Answer::kUnknown:
        return ReadDeletedBack(step, what, done);
      case Answer::kExists:
      case Answer::kConflict:
        return done({.kind = Kind::kReplan, .message = Cause(reply, what)});
      case Answer::kLater:
        return done(Later(reply, what));
      case Answer::kRefused:
        return done(Refused(reply, what));
    }
  });
}

void JobWriter::ReadDeletedBack(const DeletePod& step, const std::string& what, Done done) {
  Send({.path = ObjectPath(Resource::kPods, step.ns, step.name)},
       [this, step, what, done](absl::StatusOr<HttpReply> reply) {
         const Answer answer = Classify(reply);
         if (answer != Answer::kDone && answer != Answer::kMissing) return done(Later(reply, what));
         absl::StatusOr<Pod> pod = absl::NotFoundError("");
         if (answer == Answer::kDone) pod = DecodePod(reply->body);
         if (pod.ok() && pod->meta.uid == step.uid) {
           const bool dying = pod->meta.deletion_time.has_value();
           view_.Observe(*std::move(pod));
           return done({.kind = dying ? Kind::kDone : Kind::kLater, .message = what});
         }
         Pod gone;
         gone.meta.ns = step.ns;
         gone.meta.name = step.name;
         gone.meta.uid = step.uid;
         view_.ObserveGone(gone);
         if (pod.ok()) view_.Observe(*std::move(pod));
         done({});
       });
}

void JobWriter::PatchLedger(const Job& job, const Ledger& ledger, Done done) {
  const json body = {{"metadata",
                      {{"resourceVersion", job.meta.resource_version},
                       {"annotations", {{std::string(kLedgerAnnotation), EncodeLedger(ledger)}}}}}};
  Patch(job, ObjectPath(Resource::kTrainingJobs, job.meta.ns, job.meta.name), Dump(body),
        "write the ledger of " + ClusterView::KeyOf(job.meta), std::move(done));
}

void JobWriter::PatchStatus(const Job& job, const JobStatus& status, Done done) {
  Patch(job, SubresourcePath(Resource::kTrainingJobs, job.meta.ns, job.meta.name, "status"),
        StatusPatch(EncodeStatus(job.status), EncodeStatus(status), job.meta.resource_version),
        "write the status of " + ClusterView::KeyOf(job.meta), std::move(done));
}

void JobWriter::Patch(const Job& job, std::string path, std::string body, std::string what,
                      Done done) {
  HttpRequest request{.verb = Verb::kPatch, .path = std::move(path)};
  request.body = std::move(body);
  request.content_type = kMergePatch;
  Send(std::move(request), [this, meta = job.meta, what, done](absl::StatusOr<HttpReply> reply) {
    switch (Classify(reply)) {
      case Answer::kDone: {
        auto now = DecodeTrainingJob(reply->body);
        if (!now.ok()) return ReadJobBack(meta, what, done);
        view_.Observe(*std::move(now));
        return done({});
      }
      case Answer::kExists:
      case Answer::kConflict:
      case Answer::kUnknown:
        return ReadJobBack(meta, what, done);
      case Answer::kMissing:
        return done({.kind = Kind::kReplan, .message = Cause(reply, what)});
      case Answer::kLater:
        return done(Later(reply, what));
      case Answer::kRefused:
        return done(Refused(reply, what));
    }
  });
}

// After a conflict or a lost reply the job as it is now decides what is left to be done.
void JobWriter::ReadJobBack(const ObjectMeta& job, const std::string& what, Done done) {
  Send({.path = ObjectPath(Resource::kTrainingJobs, job.ns, job.name)},
       [this, what, done](absl::StatusOr<HttpReply> reply) {
         const Answer answer = Classify(reply);
         if (answer == Answer::kMissing) return done({.kind = Kind::kReplan, .message = what});
         if (answer != Answer::kDone) return done(Later(reply, what));
         auto now = DecodeTrainingJob(reply->body);
         if (!now.ok()) {
           return done({.kind = Kind::kRefused,
                        .message = what + ": " + std::string(now.status().message())});
         }
         view_.Observe(*std::move(now));
         done({.kind = Kind::kReplan, .message = what});
       });
}

void JobWriter::PatchMessage(const ObjectMeta& job, const std::string& message) {
  HttpRequest request{.verb = Verb::kPatch,
                      .path = SubresourcePath(Resource::kTrainingJobs, job.ns, job.name, "status")};
  request.body = Dump({{"status", {{"message", message}}}});
  request.content_type = kMergePatch;
  Send(std::move(request), [job, message](absl::StatusOr<HttpReply> reply) {
    if (Classify(reply) == Answer::kDone) return;
    Log(LogLevel::kWarning, Cause(reply, "write status.message"),
        {{"job", ClusterView::KeyOf(job)}, {"text", message}});
  });
}

void JobWriter::Event(const ObjectMeta& job, bool warning, const std::string& reason,
                      const std::string& message) {
  char suffix[17];
  std::snprintf(suffix, sizeof suffix, "%016llx", static_cast<unsigned long long>(random_.Next()));
  const std::string time = FormatRfc3339(executor_.clock().WallNow());
  const json event = {{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata", {{"name", job.name + "." + suffix}, {"namespace", job.ns}}},
                      {"involvedObject",
                       {{"apiVersion", kApiGroupVersion},
                        {"kind", kTrainingJobKind},
                        {"namespace", job.ns},
                        {"name", job.name},
                        {"uid", job.uid}}},
                      {"type", warning ? "Warning" : "Normal"},
                      {"reason", reason},
                      {"message", message.substr(0, kEventMessageBytesMax)},
                      {"source", {{"component", "taas-operator"}}},
                      {"reportingComponent", "taas-operator"},
                      {"reportingInstance", "taas-operator"},
                      {"firstTimestamp", time},
                      {"lastTimestamp", time},
                      {"count", 1}};
  HttpRequest request{.verb = Verb::kPost, .path = CollectionPath(Resource::kEvents, job.ns)};
  request.body = Dump(event);
  const std::string key = ClusterView::KeyOf(job);
  Send(std::move(request), [key, reason](absl::StatusOr<HttpReply> reply) {
    if (Classify(reply) == Answer::kDone) return;
    Log(LogLevel::kDebug, Cause(reply, "create event"), {{"job", key}, {"reason", reason}});
  });
}

}  // namespace taas
