#include "operator/controller/job_writer.h"

#include <cstdio>
#include <utility>

#include "nlohmann/json.hpp"
#include "operator/api/dialect.h"
#include "operator/api/job_codec.h"
#include "operator/base/log.h"
#include "operator/controller/merge_patch.h"
#include "operator/controller/write_answer.h"
#include "operator/kube/pod_decoder.h"
#include "operator/plan/pod_json.h"

namespace taas {
namespace {

using nlohmann::json;
using Kind = WriteResult::Kind;

constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kStrategicMergePatch[] = "application/strategic-merge-patch+json";
// etcd's limit of an event's message.
constexpr size_t kEventMessageBytesMax = 1024;

std::string NameOf(const ObjectMeta& job) { return job.ns + "/" + job.name; }

Resource ResourceOf(JobKind kind) {
  return kind == JobKind::kTfJob ? Resource::kTfJobs : Resource::kTrainingJobs;
}

Resource ResourceOf(GangScheduler scheduler) {
  return scheduler == GangScheduler::kVolcano ? Resource::kVolcanoPodGroups
                                              : Resource::kCoschedulingPodGroups;
}

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

// What the answers whose meaning depends on the verb lead to.
struct JobWriter::Meaning {
  enum class Next { kReadBack, kReplan, kLater, kRefused };
  Next exists = Next::kReadBack;
  Next conflict = Next::kReadBack;
  Next missing = Next::kReadBack;
};

// One write, until its result is known.
struct JobWriter::Attempt {
  std::string what;
  Meaning meaning;
  // Takes the reply of a write that was applied. False: it does not say enough.
  std::function<bool(const HttpReply& reply)> take;
  // Finds out what came of it.
  std::function<void()> read_back;
  Done done;
};

// What is to be deleted, whatever it is.
struct JobWriter::Victim {
  Resource resource = Resource::kPods;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;  // Empty: no precondition.
  bool force = false;
  bool background = false;
};

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

void JobWriter::Write(HttpRequest request, Attempt attempt) {
  Send(std::move(request), [attempt = std::move(attempt)](absl::StatusOr<HttpReply> reply) {
    using Next = Meaning::Next;
    Next next = Next::kReadBack;
    switch (Classify(reply)) {
      case Answer::kDone:
        if (attempt.take(*reply)) return attempt.done({});
        break;
      case Answer::kUnknown:
        break;
      case Answer::kExists:
        next = attempt.meaning.exists;
        break;
      case Answer::kConflict:
        next = attempt.meaning.conflict;
        break;
      case Answer::kMissing:
        next = attempt.meaning.missing;
        break;
      case Answer::kLater:
        next = Next::kLater;
        break;
      case Answer::kRefused:
        next = Next::kRefused;
        break;
    }
    switch (next) {
      case Next::kReadBack:
        return attempt.read_back();
      case Next::kReplan:
        return attempt.done({.kind = Kind::kReplan, .message = Cause(reply, attempt.what)});
      case Next::kLater:
        return attempt.done(Later(reply, attempt.what));
      case Next::kRefused:
        return attempt.done(Refused(reply, attempt.what));
    }
  });
}

// `take` gets null for an object that is not there; any other trouble ends in `done`.
void JobWriter::Read(std::string path, const std::string& what, Done done,
                     std::function<void(const HttpReply* found)> take) {
  Send({.path = std::move(path)}, [what, done = std::move(done), take = std::move(take)](
                                      absl::StatusOr<HttpReply> reply) {
    const Answer answer = Classify(reply);
    if (answer == Answer::kMissing) return take(nullptr);
    // Of a right that is missing the user is told, as of any other refusal.
    if (answer == Answer::kRefused) return done(Refused(reply, what));
    if (answer != Answer::kDone) return done(Later(reply, what));
    take(&*reply);
  });
}

void JobWriter::Create(const ObjectMeta& job, const CreatePod& step, Done done) {
  const std::string what = "create pod " + step.pod.ns + "/" + step.pod.name;
  absl::StatusOr<std::string> body = PodJson(step.pod);
  if (!body.ok()) {
    return done({.kind = Kind::kRefused, .message = std::string(body.status().message())});
  }
  HttpRequest request{.verb = Verb::kPost, .path = CollectionPath(Resource::kPods, step.pod.ns)};
  request.body = *std::move(body);
  Write(std::move(request),
        {.what = what,
         .meaning = {.conflict = Meaning::Next::kLater, .missing = Meaning::Next::kRefused},
         .take =
             [this](const HttpReply& reply) {
               auto pod = DecodePod(reply.body);
               if (pod.ok()) view_.Observe(*std::move(pod));
               return pod.ok();
             },
         .read_back = [this, job, what, name = step.pod.name,
                       done] { ReadPodBack(job, name, what, done); },
         .done = done});
}

// Ours: the create was applied, now or earlier. Not there: it was not.
void JobWriter::ReadPodBack(const ObjectMeta& job, const std::string& name,
                            const std::string& what, Done done) {
  Read(ObjectPath(Resource::kPods, job.ns, name), what, done,
       [this, job, what, done](const HttpReply* found) {
         if (found == nullptr) return done({.kind = Kind::kLater, .message = what});
         auto pod = DecodePod(found->body);
         if (!pod.ok()) return done(Unreadable(what, pod.status()));
         if (pod->owner_uid == job.uid && pod->job == job.name) {
           view_.Observe(*std::move(pod));
           return done({});
         }
         WriteResult taken{.kind = Kind::kTaken, .message = what + ": the name is taken"};
         taken.pod = *std::move(pod);
         done(std::move(taken));
       });
}

void JobWriter::Create(const ObjectMeta& job, const CreateService& step, Done done) {
  const std::string what = "create service " + step.ns + "/" + step.name;
  HttpRequest request{.verb = Verb::kPost, .path = CollectionPath(Resource::kServices, step.ns)};
  request.body = ServiceJson(step);
  Write(std::move(request),
        {.what = what,
         .meaning = {.conflict = Meaning::Next::kLater, .missing = Meaning::Next::kRefused},
         .take =
             [this](const HttpReply& reply) {
               auto service = DecodeOwnedObject(reply.body);
               if (service.ok()) view_.Observe(*std::move(service));
               return service.ok();
             },
         .read_back = [this, job, what, name = step.name,
                       done] { ReadServiceBack(job, name, what, done); },
         .done = done});
}

void JobWriter::ReadServiceBack(const ObjectMeta& job, const std::string& name,
                                const std::string& what, Done done) {
  Read(ObjectPath(Resource::kServices, job.ns, name), what, done,
       [this, job, what, done](const HttpReply* found) {
         if (found == nullptr) return done({.kind = Kind::kLater, .message = what});
         auto service = DecodeOwnedObject(found->body);
         if (!service.ok()) return done(Unreadable(what, service.status()));
         // Of another controller's making it has no label of ours, and the view would not show it.
         if (service->owner_uid == job.uid && service->job == job.name) {
           view_.Observe(*std::move(service));
           return done({});
         }
         WriteResult taken{.kind = Kind::kTaken, .message = what + ": the name is taken"};
         taken.service = *std::move(service);
         done(std::move(taken));
       });
}

void JobWriter::Create(const ObjectMeta& job, const CreatePodGroup& step, Done done) {
  const std::string what = "create PodGroup " + step.ns + "/" + step.name + " for " +
                           GangSchedulerName(step.scheduler);
  HttpRequest request{.verb = Verb::kPost,
                      .path = CollectionPath(ResourceOf(step.scheduler), step.ns)};
  request.body = PodGroupJson(step);
  Write(std::move(request),
        {.what = what,
         .meaning = {.conflict = Meaning::Next::kLater, .missing = Meaning::Next::kRefused},
         .take =
             [this](const HttpReply& reply) {
               auto group = DecodePodGroup(reply.body);
               if (group.ok()) view_.Observe(*std::move(group));
               return group.ok();
             },
         .read_back = [this, job, step, what, done] { ReadGroupBack(job, step, what, done); },
         .done = done});
}

void JobWriter::ReadGroupBack(const ObjectMeta& job, const CreatePodGroup& step,
                              const std::string& what, Done done) {
  Read(ObjectPath(ResourceOf(step.scheduler), step.ns, step.name), what, done,
       [this, job, what, done](const HttpReply* found) {
         if (found == nullptr) return done({.kind = Kind::kLater, .message = what});
         auto group = DecodePodGroup(found->body);
         if (!group.ok()) return done(Unreadable(what, group.status()));
         if (group->owner_uid == job.uid && group->job == job.name) {
           view_.Observe(*std::move(group));
           return done({});
         }
         WriteResult taken{.kind = Kind::kTaken, .message = what + ": the name is taken"};
         taken.pod_group = *std::move(group);
         done(std::move(taken));
       });
}

void JobWriter::Change(HttpRequest request, std::string what,
                       std::function<bool(const HttpReply& reply)> take, Done done) {
  request.verb = Verb::kPatch;
  Write(std::move(request),
        {.what = what,
         .meaning = {.exists = Meaning::Next::kReplan,
                     .conflict = Meaning::Next::kReplan,
                     .missing = Meaning::Next::kReplan},
         .take = std::move(take),
         .read_back = [what, done] { done({.kind = Kind::kReplan, .message = what}); },
         .done = done});
}

void JobWriter::Update(const UpdatePodGroup& step, Done done) {
  HttpRequest request{.path = ObjectPath(ResourceOf(step.scheduler), step.ns, step.name)};
  request.content_type = kMergePatch;
  request.body = PodGroupPatch(step.before, step.spec, step.uid, step.resource_version);
  Change(std::move(request), "update PodGroup " + step.ns + "/" + step.name,
         [this](const HttpReply& reply) {
           auto group = DecodePodGroup(reply.body);
           if (group.ok()) view_.Observe(*std::move(group));
           return group.ok();
         },
         std::move(done));
}

void JobWriter::Delete(const DeletePodGroup& step, Done done) {
  Remove({.resource = ResourceOf(step.scheduler),
          .ns = step.ns,
          .name = step.name,
          .uid = step.uid},
         std::move(done));
}

void JobWriter::Release(const ReleasePod& step, Done done) {
  json metadata = {{"uid", step.uid}, {"resourceVersion", step.resource_version}};
  if (step.ends_group) {
    metadata["annotations"] = {{"kueue.x-k8s.io/retriable-in-group", "false"}};
  } else {
    // Other finalizers stay.
    metadata["$deleteFromPrimitiveList/finalizers"] = json::array({"kueue.x-k8s.io/managed"});
  }
  HttpRequest request{.path = ObjectPath(Resource::kPods, step.ns, step.name)};
  request.content_type = kStrategicMergePatch;
  request.body = Dump({{"metadata", std::move(metadata)}});
  Change(std::move(request), "release pod " + step.ns + "/" + step.name + " from Kueue",
         [this](const HttpReply& reply) {
           // Whether it is gone now is for the watch to tell.
           auto pod = DecodePod(reply.body);
           if (pod.ok()) view_.Observe(*std::move(pod));
           return pod.ok();
         },
         std::move(done));
}

void JobWriter::TakeOver(const Adopt& step, Done done) {
  json metadata = {{"uid", step.uid}, {"labels", step.labels}};
  if (!step.resource_version.empty()) metadata["resourceVersion"] = step.resource_version;
  const Resource resource = step.is_service ? Resource::kServices : Resource::kPods;
  HttpRequest request{.path = ObjectPath(resource, step.ns, step.name)};
  request.content_type = kMergePatch;
  request.body = Dump({{"metadata", std::move(metadata)}});
  Change(std::move(request),
         "take over " + std::string(step.is_service ? "service " : "pod ") + step.ns + "/" +
             step.name,
         [this, is_service = step.is_service](const HttpReply& reply) {
           if (is_service) {
             auto service = DecodeOwnedObject(reply.body);
             if (service.ok()) view_.Observe(*std::move(service));
             return service.ok();
           }
           auto pod = DecodePod(reply.body);
           if (pod.ok()) view_.Observe(*std::move(pod));
           return pod.ok();
         },
         std::move(done));
}

void JobWriter::Delete(const DeletePod& step, Done done) {
  Remove({.resource = Resource::kPods,
          .ns = step.ns,
          .name = step.name,
          .uid = step.uid,
          .resource_version = step.resource_version,
          .force = step.force},
         std::move(done));
}

void JobWriter::Delete(const DeleteService& step, Done done) {
  Remove({.resource = Resource::kServices, .ns = step.ns, .name = step.name, .uid = step.uid},
         std::move(done));
}

void JobWriter::Delete(const DeleteJob& step, Done done) {
  Remove({.resource = ResourceOf(step.kind),
          .ns = step.ns,
          .name = step.name,
          .uid = step.uid,
          .resource_version = step.resource_version,
          .background = true},
         std::move(done));
}

void JobWriter::Remove(Victim victim, Done done) {
  const std::string what =
      "delete " + std::string(ResourceName(victim.resource)) + " " + victim.ns + "/" + victim.name;
  json options = {{"apiVersion", "v1"},
                  {"kind", "DeleteOptions"},
                  {"preconditions", {{"uid", victim.uid}}}};
  if (!victim.resource_version.empty()) {
    options["preconditions"]["resourceVersion"] = victim.resource_version;
  }
  if (victim.background) options["propagationPolicy"] = "Background";
  if (victim.force) options["gracePeriodSeconds"] = 0;
  HttpRequest request{.verb = Verb::kDelete,
                      .path = ObjectPath(victim.resource, victim.ns, victim.name)};
  request.body = Dump(options);
  Write(std::move(request),
        {.what = what,
         .meaning = {.exists = Meaning::Next::kReplan, .conflict = Meaning::Next::kReplan},
         .take =
             [this, victim](const HttpReply& reply) {
               // What has to end first comes back with its deletion time.
               if (victim.resource == Resource::kPods) {
                 auto pod = DecodePod(reply.body);
                 const bool dying = pod.ok() && pod->meta.uid == victim.uid &&
                                    pod->meta.deletion_time.has_value();
                 if (!dying) return false;
                 if (pod->meta.resource_version.empty()) {
                   // Its node was first: this is no state that the server has.
                   view_.ObserveGone(victim.resource, victim.ns, victim.name, victim.uid);
                 } else {
                   view_.Observe(*std::move(pod));
                 }
                 return true;
               }
               const auto left = DecodeOwnedObject(reply.body);
               if (!left.ok() || !left->meta.deletion_time.has_value()) {
                 view_.ObserveGone(victim.resource, victim.ns, victim.name, victim.uid);
               }
               return true;
             },
         .read_back = [this, victim, what, done] { ReadRemovedBack(victim, what, done); },
         .done = done});
}

void JobWriter::ReadRemovedBack(const Victim& victim, const std::string& what, Done done) {
  Read(ObjectPath(victim.resource, victim.ns, victim.name), what, done,
       [this, victim, what, done](const HttpReply* found) {
         if (found != nullptr) {
           const auto object = DecodeOwnedObject(found->body);
           if (!object.ok()) return done(Unreadable(what, object.status()));
           if (victim.resource == Resource::kPods) {
             auto pod = DecodePod(found->body);
             if (pod.ok() && !pod->job.empty()) view_.Observe(*std::move(pod));
           }
           if (object->meta.uid == victim.uid) {
             const bool dying = object->meta.deletion_time.has_value();
             return done({.kind = dying ? Kind::kDone : Kind::kLater, .message = what});
           }
         }
         view_.ObserveGone(victim.resource, victim.ns, victim.name, victim.uid);
         done({});
       });
}

void JobWriter::PatchLedger(const Job& job, const Ledger& ledger, Done done) {
  const json body = {{"metadata",
                      {{"resourceVersion", job.meta.resource_version},
                       {"annotations", {{std::string(kLedgerAnnotation), EncodeLedger(ledger)}}}}}};
  HttpRequest request{.path = ObjectPath(ResourceOf(job.kind), job.meta.ns, job.meta.name)};
  request.body = Dump(body);
  Patch(job, std::move(request), "write the ledger of " + NameOf(job.meta), nullptr,
        std::move(done));
}

void JobWriter::PatchStatus(const Job& job, const JobStatus& status, KeptFields& kept,
                            Done done) {
  const std::string wanted = EncodeStatus(job, status);
  HttpRequest request{
      .path = SubresourcePath(ResourceOf(job.kind), job.meta.ns, job.meta.name, "status")};
  request.body = StatusPatch(EncodeStatus(job, job.status), wanted, job.meta.resource_version);
  Patch(job, std::move(request), "write the status of " + NameOf(job.meta),
        [&kept, wanted](const HttpReply& reply) { kept.Learn(wanted, reply.body); },
        std::move(done));
}

void JobWriter::PatchRefusal(const Job& job, const JobStatus& status, KeptFields& kept,
                             Done done) {
  const auto told = [&job](const JobStatus& whole) {
    const json all = json::parse(EncodeStatus(job, whole));
    json part = json::object();
    for (const char* field : {"conditions", "message"}) {
      if (all.contains(field)) part[field] = all[field];
    }
    return Dump(part);
  };
  const std::string wanted = told(status);
  HttpRequest request{
      .path = SubresourcePath(ResourceOf(job.kind), job.meta.ns, job.meta.name, "status")};
  request.body = StatusPatch(told(job.status), wanted, job.meta.resource_version);
  Patch(job, std::move(request), "write why nothing is done for " + NameOf(job.meta),
        [&kept, wanted](const HttpReply& reply) { kept.Learn(wanted, reply.body); },
        std::move(done));
}

// `applied`, if any, sees the answer of a write that was.
void JobWriter::Patch(const Job& job, HttpRequest request, std::string what,
                      std::function<void(const HttpReply& reply)> applied, Done done) {
  request.verb = Verb::kPatch;
  request.content_type = kMergePatch;
  Write(std::move(request),
        {.what = what,
         .meaning = {.missing = Meaning::Next::kReplan},
         .take =
             [this, kind = job.kind, applied = std::move(applied)](const HttpReply& reply) {
               if (!view_.ObserveJob(kind, reply.body).ok()) return false;
               if (applied != nullptr) applied(reply);
               return true;
             },
         .read_back = [this, meta = job.meta, kind = job.kind, what,
                       done] { ReadJobBack(meta, kind, what, done); },
         .done = done});
}

// After a conflict or a lost reply the job as it is now decides what is left to be done.
void JobWriter::ReadJobBack(const ObjectMeta& job, JobKind kind, const std::string& what,
                            Done done) {
  Read(ObjectPath(ResourceOf(kind), job.ns, job.name), what, done,
       [this, kind, what, done](const HttpReply* found) {
         if (found != nullptr) {
           const absl::Status read = view_.ObserveJob(kind, found->body);
           if (!read.ok()) {
             return done({.kind = Kind::kRefused,
                          .message = what + ": " + std::string(read.message())});
           }
         }
         done({.kind = Kind::kReplan, .message = what});
       });
}

void JobWriter::PatchMessage(const ObjectMeta& job, JobKind kind, const std::string& message) {
  PatchFlaw(job, kind, {{"message", message}});
}

void JobWriter::PatchInvalid(const ObjectMeta& job, JobKind kind, const std::string& message) {
  const std::string time = FormatRfc3339(executor_.clock().WallNow());
  const json condition = {{"type", "Failed"},
                          {"status", "True"},
                          {"reason", "TFJobFailedValidation"},
                          {"message", message},
                          {"lastUpdateTime", time},
                          {"lastTransitionTime", time}};
  PatchFlaw(job, kind,
            {{"state", "Failed"}, {"conditions", json::array({condition})}, {"message", message}});
}

void JobWriter::PatchFlaw(const ObjectMeta& job, JobKind kind, const json& status) {
  HttpRequest request{.verb = Verb::kPatch,
                      .path = SubresourcePath(ResourceOf(kind), job.ns, job.name, "status")};
  request.body = Dump(
      {{"metadata", {{"resourceVersion", job.resource_version}}}, {"status", status}});
  request.content_type = kMergePatch;
  Send(std::move(request), [job](absl::StatusOr<HttpReply> reply) {
    if (Classify(reply) == Answer::kDone) return;
    Log(LogLevel::kWarning, Cause(reply, "write what is wrong with the job"),
        {{"job", NameOf(job)}});
  });
}

void JobWriter::Event(const Job& job, bool warning, const std::string& reason,
                      const std::string& message) {
  char suffix[17];
  std::snprintf(suffix, sizeof suffix, "%016llx", static_cast<unsigned long long>(random_.Next()));
  const std::string time = FormatRfc3339(executor_.clock().WallNow());
  const Dialect& dialect = DialectOf(job.kind);
  const json event = {{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata",
                       {{"name", job.meta.name + "." + suffix}, {"namespace", job.meta.ns}}},
                      {"involvedObject",
                       {{"apiVersion", dialect.group_version},
                        {"kind", dialect.kind_name},
                        {"namespace", job.meta.ns},
                        {"name", job.meta.name},
                        {"uid", job.meta.uid}}},
                      {"type", warning ? "Warning" : "Normal"},
                      {"reason", reason},
                      {"message", message.substr(0, kEventMessageBytesMax)},
                      {"source", {{"component", "taas-operator"}}},
                      {"reportingComponent", "taas-operator"},
                      {"reportingInstance", "taas-operator"},
                      {"firstTimestamp", time},
                      {"lastTimestamp", time},
                      {"count", 1}};
  HttpRequest request{.verb = Verb::kPost, .path = CollectionPath(Resource::kEvents, job.meta.ns)};
  request.body = Dump(event);
  const std::string name = NameOf(job.meta);
  Send(std::move(request), [this, name, reason](absl::StatusOr<HttpReply> reply) {
    const Answer answer = Classify(reply);
    if (answer == Answer::kDone) events_refused_ = false;
    if (answer == Answer::kDone) return;
    // One line until one is taken again: of a right that is missing there would be thousands.
    const bool news = answer == Answer::kRefused && !std::exchange(events_refused_, true);
    Log(news ? LogLevel::kWarning : LogLevel::kDebug, Cause(reply, "create event"),
        {{"job", name}, {"reason", reason}});
  });
}

}  // namespace taas
