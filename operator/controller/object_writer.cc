#include "operator/controller/object_writer.h"

#include <string_view>
#include <utility>

#include "operator/api/kube_protobuf.h"
#include "operator/controller/merge_patch.h"
#include "operator/kube/api_path.h"
#include "operator/kube/pod_decoder.h"
#include "operator/plan/pod_json.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using Kind = WriteResult::Kind;
using Next = ApiWriter::Meaning::Next;

// A pod is what the user's template says: who misspelt a field is to hear of it, and who uses one
// of a later Kubernetes gets the pod without it.
constexpr char kWarnOfFields[] = "?fieldValidation=Warn";

Resource ResourceOf(GangScheduler scheduler) {
  return scheduler == GangScheduler::kVolcano ? Resource::kVolcanoPodGroups
                                              : Resource::kCoschedulingPodGroups;
}

}  // namespace

// What is to be made, and how the server's word of it is read.
template <typename Object>
struct ObjectWriter::New {
  std::string what;
  Resource resource;
  std::string ns;
  std::string name;
  std::string body;
  const char* query = "";
  absl::StatusOr<Object> (*decode)(std::string_view object);
};

// What is to be deleted, whatever it is.
struct ObjectWriter::Victim {
  Resource resource = Resource::kPods;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;  // Empty: no precondition.
  bool force = false;
  bool background = false;
};

template <typename Object>
bool ObjectWriter::Observe(absl::StatusOr<Object> object) {
  if (object.ok()) view_.Observe(*std::move(object));
  return object.ok();
}

template <typename Object>
void ObjectWriter::Make(const ObjectMeta& job, New<Object> made, WriteDone done) {
  HttpRequest request{.verb = Verb::kPost,
                      .path = CollectionPath(made.resource, made.ns) + made.query};
  request.accept = kProtobufOrJson;  // Half as long, and cheaper for the server.
  request.body = std::exchange(made.body, {});
  ApiWriter::Attempt attempt{.what = made.what,
                             .meaning = {.conflict = Next::kLater, .missing = Next::kRefused}};
  attempt.take = [this, decode = made.decode](const HttpReply& reply) {
    return Observe(decode(reply.body));
  };
  attempt.read_back = [this, job, made, done] { ReadMadeBack(job, made, done); };
  attempt.done = std::move(done);
  api_.Write(std::move(request), std::move(attempt));
}

// Ours: the create was applied, now or earlier. Not there: it was not.
template <typename Object>
void ObjectWriter::ReadMadeBack(const ObjectMeta& job, const New<Object>& made,
                                const WriteDone& done) {
  api_.Read({.path = ObjectPath(made.resource, made.ns, made.name)}, made.what, done,
            [this, job, made, done](const HttpReply* found) {
              if (found == nullptr) return done({.kind = Kind::kLater, .message = made.what});
              absl::StatusOr<Object> object = made.decode(found->body);
              if (!object.ok()) return done(Unreadable(made.what, object.status()));
              // Without our label the view would not show it, though another controller may have
              // made it for this job.
              if (object->owner_uid == job.uid && object->job == job.name) {
                Observe(std::move(object));
                return done({});
              }
              done({.kind = Kind::kTaken,
                    .message = made.what + ": the name is taken",
                    .taken_by = *std::move(object)});
            });
}

void ObjectWriter::Create(const ObjectMeta& job, const CreatePod& step, WriteDone done) {
  absl::StatusOr<std::string> body = PodJson(step.pod);
  if (!body.ok()) {
    return done({.kind = Kind::kRefused, .message = std::string(body.status().message())});
  }
  Make<Pod>(job,
            {.what = "create pod " + step.pod.ns + "/" + step.pod.name,
             .resource = Resource::kPods,
             .ns = step.pod.ns,
             .name = step.pod.name,
             .body = *std::move(body),
             .query = kWarnOfFields,
             .decode = DecodePod},
            std::move(done));
}

void ObjectWriter::Create(const ObjectMeta& job, const CreateService& step, WriteDone done) {
  Make<OwnedObject>(job,
                    {.what = "create service " + step.ns + "/" + step.name,
                     .resource = Resource::kServices,
                     .ns = step.ns,
                     .name = step.name,
                     .body = ServiceJson(step),
                     .decode = DecodeOwnedObject},
                    std::move(done));
}

void ObjectWriter::Create(const ObjectMeta& job, const CreatePodGroup& step, WriteDone done) {
  Make<PodGroup>(job,
                 {.what = "create PodGroup " + step.ns + "/" + step.name + " for " +
                          GangSchedulerName(step.scheduler),
                  .resource = ResourceOf(step.scheduler),
                  .ns = step.ns,
                  .name = step.name,
                  .body = PodGroupJson(step),
                  .decode = DecodePodGroup},
                 std::move(done));
}

void ObjectWriter::Create(const CreateConfigMap& step, WriteDone done) {
  const std::string what = "create ConfigMap " + step.ns + "/" + step.name;
  HttpRequest request{.verb = Verb::kPost, .path = CollectionPath(Resource::kConfigMaps, step.ns)};
  request.accept = kProtobufOrJson;
  request.body = ConfigMapJson(step);
  // One that is there says the same, or its name would be another. So no right to read any is
  // needed, and after a reply that was lost it is sent once more.
  api_.Write(std::move(request),
             {.what = what,
              .meaning = {.exists = Next::kDone,
                          .conflict = Next::kLater,
                          .missing = Next::kRefused},
              .take = [](const HttpReply&) { return true; },
              .read_back = [what, done] { done({.kind = Kind::kLater, .message = what}); },
              .done = done});
}

void ObjectWriter::Update(const UpdatePodGroup& step, WriteDone done) {
  HttpRequest request{.path = ObjectPath(ResourceOf(step.scheduler), step.ns, step.name)};
  request.content_type = kMergePatch;
  request.body = PodGroupPatch(step.before, step.spec, step.uid, step.resource_version);
  api_.Change(
      std::move(request), "update PodGroup " + step.ns + "/" + step.name,
      [this](const HttpReply& reply) { return Observe(DecodePodGroup(reply.body)); },
      std::move(done));
}

void ObjectWriter::Release(const ReleasePod& step, WriteDone done) {
  json metadata = {{"uid", step.uid}, {"resourceVersion", step.resource_version}};
  if (step.ends_group) {
    metadata["annotations"] = {{"kueue.x-k8s.io/retriable-in-group", "false"}};
  } else {
    // Other finalizers stay.
    metadata["$deleteFromPrimitiveList/finalizers"] = json::array({"kueue.x-k8s.io/managed"});
  }
  HttpRequest request{.path = ObjectPath(Resource::kPods, step.ns, step.name)};
  request.content_type = kStrategicMergePatch;
  request.body = RequestBody({{"metadata", std::move(metadata)}});
  api_.Change(
      std::move(request), "release pod " + step.ns + "/" + step.name + " from Kueue",
      // Whether it is gone now is for the watch to tell.
      [this](const HttpReply& reply) { return Observe(DecodePod(reply.body)); }, std::move(done));
}

void ObjectWriter::TakeOver(const Adopt& step, WriteDone done) {
  json metadata = {{"uid", step.uid}, {"labels", step.labels}};
  if (!step.resource_version.empty()) metadata["resourceVersion"] = step.resource_version;
  const Resource resource = step.is_service ? Resource::kServices : Resource::kPods;
  HttpRequest request{.path = ObjectPath(resource, step.ns, step.name)};
  request.content_type = kMergePatch;
  request.body = RequestBody({{"metadata", std::move(metadata)}});
  api_.Change(
      std::move(request),
      "take over " + std::string(step.is_service ? "service " : "pod ") + step.ns + "/" + step.name,
      [this, is_service = step.is_service](const HttpReply& reply) {
        return is_service ? Observe(DecodeOwnedObject(reply.body)) : Observe(DecodePod(reply.body));
      },
      std::move(done));
}

void ObjectWriter::Delete(const DeletePod& step, WriteDone done) {
  Remove({.resource = Resource::kPods,
          .ns = step.ns,
          .name = step.name,
          .uid = step.uid,
          .resource_version = step.resource_version,
          .force = step.force},
         std::move(done));
}

void ObjectWriter::Delete(const DeleteService& step, WriteDone done) {
  Remove({.resource = Resource::kServices, .ns = step.ns, .name = step.name, .uid = step.uid},
         std::move(done));
}

void ObjectWriter::Delete(const DeletePodGroup& step, WriteDone done) {
  Remove(
      {.resource = ResourceOf(step.scheduler), .ns = step.ns, .name = step.name, .uid = step.uid},
      std::move(done));
}

void ObjectWriter::Delete(const DeleteJob& step, WriteDone done) {
  Remove({.resource = ResourceOf(step.kind),
          .ns = step.ns,
          .name = step.name,
          .uid = step.uid,
          .resource_version = step.resource_version,
          .background = true},
         std::move(done));
}

void ObjectWriter::Remove(Victim victim, WriteDone done) {
  const std::string what =
      "delete " + std::string(ResourceName(victim.resource)) + " " + victim.ns + "/" + victim.name;
  json options = {
      {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", victim.uid}}}};
  if (!victim.resource_version.empty()) {
    options["preconditions"]["resourceVersion"] = victim.resource_version;
  }
  if (victim.background) options["propagationPolicy"] = "Background";
  if (victim.force) options["gracePeriodSeconds"] = 0;
  HttpRequest request{.verb = Verb::kDelete,
                      .path = ObjectPath(victim.resource, victim.ns, victim.name)};
  request.body = RequestBody(options);
  api_.Write(std::move(request),
             {.what = what,
              .meaning = {.exists = Next::kReplan, .conflict = Next::kReplan},
              .take = [this, victim](const HttpReply& reply) { return TakeRemoved(victim, reply); },
              .read_back = [this, victim, what, done] { ReadRemovedBack(victim, what, done); },
              .done = done});
}

bool ObjectWriter::TakeRemoved(const Victim& victim, const HttpReply& reply) {
  // What has to end first comes back with its deletion time.
  if (victim.resource != Resource::kPods) {
    const auto left = DecodeOwnedObject(reply.body);
    if (!left.ok() || !left->meta.deletion_time.has_value()) {
      view_.ObserveGone(victim.resource, victim.ns, victim.name, victim.uid);
    }
    return true;
  }
  auto pod = DecodePod(reply.body);
  const bool dying = pod.ok() && pod->meta.uid == victim.uid && pod->meta.deletion_time.has_value();
  if (!dying) return false;
  if (pod->meta.resource_version.empty()) {
    // Its node was first: this is no state that the server has.
    view_.ObserveGone(victim.resource, victim.ns, victim.name, victim.uid);
  } else {
    view_.Observe(*std::move(pod));
  }
  return true;
}

void ObjectWriter::ReadRemovedBack(const Victim& victim, const std::string& what,
                                   const WriteDone& done) {
  api_.Read({.path = ObjectPath(victim.resource, victim.ns, victim.name)}, what, done,
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

}  // namespace taas
