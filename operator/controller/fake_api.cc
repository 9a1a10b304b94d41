#include "operator/controller/fake_api.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace taas {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

HttpReply ErrorReply(int code, const std::string& reason, const std::string& message) {
  const Json status = {{"kind", "Status"},     {"apiVersion", "v1"}, {"status", "Failure"},
                       {"message", message},   {"reason", reason},   {"code", code}};
  return {.code = code, .body = status.dump()};
}

std::string QueryValue(const std::string& path, const std::string& key) {
  const size_t question = path.find('?');
  if (question == std::string::npos) return "";
  const std::string query = "&" + path.substr(question + 1);
  const size_t found = query.find("&" + key + "=");
  if (found == std::string::npos) return "";
  const size_t from = found + key.size() + 2;
  return query.substr(from, query.find('&', from) - from);
}

bool IsJob(const std::string& resource) {
  return resource == "trainingjobs" || resource == "tfjobs";
}

void KeepOnly(const std::set<std::string>& names, Json* object) {
  for (auto item = object->begin(); item != object->end();) {
    item = names.count(item.key()) > 0 ? std::next(item) : object->erase(item);
  }
}

// The status as the CRD that came with tf-operator and training-operator has it.
void Prune(Json* job) {
  if (!job->contains("status")) return;
  Json& status = (*job)["status"];
  KeepOnly({"completionTime", "conditions", "lastReconcileTime", "replicaStatuses", "startTime"},
           &status);
  for (Json& condition : status["conditions"]) {
    KeepOnly({"lastTransitionTime", "lastUpdateTime", "message", "reason", "status", "type"},
             &condition);
  }
  for (Json& replicas : status["replicaStatuses"]) {
    KeepOnly({"active", "failed", "labelSelector", "selector", "succeeded"}, &replicas);
  }
}

}  // namespace

namespace {

bool HasFinalizers(const Json& object) {
  return !object["metadata"].value("finalizers", Json::array()).empty();
}

// As a strategic merge patch does it.
void DropFinalizers(Json* patch, Json* object) {
  const char* const kDirective = "$deleteFromPrimitiveList/finalizers";
  Json& metadata = (*patch)["metadata"];
  const Json dropped = metadata.value(kDirective, Json::array());
  metadata.erase(kDirective);
  Json left = Json::array();
  for (const Json& name : (*object)["metadata"].value("finalizers", Json::array())) {
    if (std::find(dropped.begin(), dropped.end(), name) == dropped.end()) left.push_back(name);
  }
  (*object)["metadata"]["finalizers"] = left;
}

// What Kueue's webhook does to a pod of one of its queues.
void Hold(Json* pod) {
  Json& metadata = (*pod)["metadata"];
  if (!metadata["labels"].contains("kueue.x-k8s.io/queue-name")) return;
  metadata["labels"]["kueue.x-k8s.io/managed"] = "true";
  metadata["finalizers"].push_back("kueue.x-k8s.io/managed");
}

}  // namespace

// Tells the fake that the client has gone.
class FakeApi::Handle : public StreamHandle {
 public:
  explicit Handle(std::shared_ptr<bool> alive) : alive_(std::move(alive)) {}

 private:
  std::shared_ptr<bool> alive_;
};

// /api/v1/namespaces/NS/pods/NAME/status, /apis/taas.dev/v1/trainingjobs, …
FakeApi::Target FakeApi::Parse(const std::string& path) {
  std::vector<std::string> parts;
  std::string rest = path.substr(0, path.find('?'));
  for (size_t at = 0; at < rest.size();) {
    const size_t next = std::min(rest.find('/', at + 1), rest.size());
    parts.push_back(rest.substr(at + 1, next - at - 1));
    at = next;
  }
  size_t i = parts.at(0) == "api" ? 2 : 3;
  if (i + 2 < parts.size() && parts[i] == "namespaces") i += 2;
  Target target{.resource = parts.at(i)};
  if (i + 1 < parts.size()) target.name = parts[i + 1];
  if (i + 2 < parts.size()) target.subresource = parts[i + 2];
  return target;
}

void FakeApi::Reply(int client, OnReply done, absl::StatusOr<HttpReply> reply) {
  const auto delay = milliseconds(1 + random_.Below(5));
  executor_.PostAfter(delay, [this, client, done = std::move(done), reply = std::move(reply)] {
    if (client == client_) done(reply);
  });
}

void FakeApi::Do(HttpRequest request, OnReply done) {
  const Target target = Parse(request.path);
  // Requests take time to arrive, in any order.
  executor_.PostAfter(milliseconds(1 + random_.Below(3)), [this, client = client_, request, target,
                                                           done = std::move(done)] {
    if (client != client_) return;  // The process died before the bytes left.
    if (target.resource == faults_.absent) {
      return Reply(client, done, HttpReply{.code = 404, .body = "404 page not found\n"});
    }
    const bool read = request.verb == Verb::kGet && !target.name.empty();
    if (read && target.resource == faults_.refuse_get_of) {
      return Reply(client, done, ErrorReply(403, "Forbidden", "not allowed to get"));
    }
    if (request.verb == Verb::kGet || target.resource == "events") {
      return Reply(client, done, Handle_(request, target));
    }
    const int number = ++writes_;
    if (request.verb == Verb::kDelete) ++deletes_;
    if (number == faults_.fail_write) {
      return Reply(client, done, ErrorReply(500, "InternalError", "the test says so"));
    }
    const bool post = request.verb == Verb::kPost && target.resource == faults_.refuse_post_of;
    const bool job = request.verb == Verb::kPatch && IsJob(target.resource);
    const bool ledger = faults_.refuse_ledger && job && target.subresource.empty();
    const bool status = faults_.refuse_status && job && target.subresource == "status";
    if (post || ledger || status) {
      return Reply(client, done,
                   ErrorReply(403, "Forbidden", "not allowed, case " + std::to_string(number)));
    }
    if (job && request.timeout < faults_.job_patch_takes) {
      executor_.PostAfter(request.timeout, [this, client, done] {
        Reply(client, done, absl::UnknownError("no reply, the test says so"));
      });
      return;
    }
    HttpReply reply = Handle_(request, target);
    if (number == faults_.crash_after_write) {
      Disconnect();
      if (on_crash_) on_crash_();
      return;
    }
    if (number == faults_.lose_reply_of_write) {
      return Reply(client, done, absl::UnknownError("the reply was lost"));
    }
    Reply(client, done, std::move(reply));
  });
}

HttpReply FakeApi::Handle_(const HttpRequest& request, const Target& target) {
  switch (request.verb) {
    case Verb::kGet: {
      if (target.name.empty()) return List(target);
      const Json* object = Find(target.resource, target.name);
      if (object == nullptr) return ErrorReply(404, "NotFound", target.name + " not found");
      return {.code = 200, .body = object->dump()};
    }
    case Verb::kPost:
      return Post(request, target);
    case Verb::kPatch:
      return Patch(request, target);
    case Verb::kDelete:
      return Delete(request, target);
    case Verb::kPut:
      break;
  }
  return ErrorReply(405, "MethodNotAllowed", "not here");
}

HttpReply FakeApi::List(const Target& target) {
  Json items = Json::array();
  for (const auto& [name, object] : objects_[target.resource]) items.push_back(object);
  const Json list = {{"kind", "List"},
                     {"apiVersion", "v1"},
                     {"metadata", {{"resourceVersion", std::to_string(version_)}}},
                     {"items", items}};
  return {.code = 200, .body = list.dump()};
}

HttpReply FakeApi::Post(const HttpRequest& request, const Target& target) {
  Json object = Json::parse(request.body);
  if (target.resource == "events") {
    events_.push_back(object);
    return {.code = 201, .body = object.dump()};
  }
  const std::string name = object["metadata"]["name"];
  if (Find(target.resource, name) != nullptr) {
    return ErrorReply(409, "AlreadyExists", target.resource + " \"" + name + "\" already exists");
  }
  if (target.resource == "pods") {
    if (QueryValue(request.path, "fieldValidation") != "Warn") {
      complaints_.push_back("a pod is made without asking to be warned: " + request.path);
    }
    if (!faults_.invalid_pod.empty()) return ErrorReply(422, "Invalid", faults_.invalid_pod);
    if (faults_.pods_max > 0 && Names("pods").size() >= static_cast<size_t>(faults_.pods_max)) {
      return ErrorReply(403, "Forbidden", "pods \"" + name + "\" is forbidden: exceeded quota");
    }
    ++pod_creates_[name];
    Hold(&object);
    object["status"] = {{"phase", "Pending"}};
    if (!keeps_environments_) {
      for (Json& container : object["spec"]["containers"]) container.erase("env");
    }
  }
  HttpReply reply{.code = 201, .body = Put(target.resource, std::move(object)).dump()};
  if (target.resource == "pods") reply.warning = faults_.pod_warning;
  return reply;
}

HttpReply FakeApi::Patch(const HttpRequest& request, const Target& target) {
  const Json* before = Find(target.resource, target.name);
  if (before == nullptr) return ErrorReply(404, "NotFound", target.name + " not found");
  Json patch = Json::parse(request.body);
  const std::string wanted = patch.value("/metadata/resourceVersion"_json_pointer, "");
  // Of a service that is taken over nobody else has made anything since.
  if (wanted.empty() && target.resource != "services") {
    complaints_.push_back("a patch without a version: " + request.body);
  }
  if (!wanted.empty() && wanted != (*before)["metadata"]["resourceVersion"]) {
    return ErrorReply(409, "Conflict", "the object has been modified");
  }
  const std::string uid = patch.value("/metadata/uid"_json_pointer, "");
  if (!uid.empty() && uid != (*before)["metadata"]["uid"]) {
    return ErrorReply(409, "Conflict", "the uid in the precondition is another");
  }
  Json after = *before;
  if (request.content_type == "application/strategic-merge-patch+json") {
    DropFinalizers(&patch, &after);
  }
  after.merge_patch(patch);
  // As a real server does: a subresource changes its part only, and the main resource not that
  // part.
  Json result = *before;
  if (target.subresource == "status") {
    result["status"] = after["status"];
  } else {
    result["metadata"] = after["metadata"];
    if (target.resource == "podgroups") {
      result["spec"] = after["spec"];
    } else if (after["spec"] != (*before)["spec"]) {
      complaints_.push_back("the spec was changed");
    }
  }
  if (faults_.earlier_tfjob_crd && target.resource == "tfjobs") Prune(&result);
  if (result == *before) {
    ++idle_patches_;
    if (!faults_.earlier_tfjob_crd) {
      complaints_.push_back("a patch that changes nothing: " + request.body);
    }
    return {.code = 200, .body = before->dump()};  // Neither a version nor an event comes of it.
  }
  const bool gone = result["metadata"].contains("deletionTimestamp") && !HasFinalizers(result);
  const Json stored = Put(target.resource, std::move(result));
  if (gone) Remove(target.resource, target.name);
  return {.code = 200, .body = stored.dump()};
}

HttpReply FakeApi::Delete(const HttpRequest& request, const Target& target) {
  const Json* found = Find(target.resource, target.name);
  if (found == nullptr) return ErrorReply(404, "NotFound", target.name + " not found");
  Json object = *found;
  const Json options = Json::parse(request.body);
  const Json& conditions = options.at("preconditions");
  const Json& version = object["metadata"]["resourceVersion"];
  if (!conditions.contains("uid")) complaints_.push_back("a delete without uid: " + request.body);
  // What a service is for does not change while it exists; a pod or a job may have.
  // A PodGroup's scheduler writes into it all the time.
  const bool changes = target.resource != "services" && target.resource != "podgroups";
  if (!conditions.contains("resourceVersion") && changes) {
    complaints_.push_back("a delete without version: " + request.body);
  }
  if (conditions.value("uid", "") != object["metadata"]["uid"] ||
      conditions.value("resourceVersion", version.get<std::string>()) != version) {
    return ErrorReply(409, "Conflict", "the precondition does not hold");
  }
  if (object["metadata"].contains("deletionTimestamp")) return {.code = 200, .body = object.dump()};
  const std::string phase = object.value("/status/phase"_json_pointer, "");
  const bool is_pod = target.resource == "pods";
  if (is_pod && (phase == "Running" || HasFinalizers(object))) {
    object["metadata"]["deletionTimestamp"] = FormatRfc3339(executor_.clock().WallNow());
    const Json dying = Put(target.resource, object);
    StopLater(dying);
    return {.code = 200, .body = dying.dump()};
  }
  if (IsJob(target.resource)) {
    if (options.value("propagationPolicy", "") != "Background") {
      complaints_.push_back("a job is not deleted in the background: " + request.body);
    }
    DeleteJob(target.resource, target.name);
  } else {
    Remove(target.resource, target.name);
  }
  if (is_pod && faults_.overtake_deletes) {
    object["metadata"]["deletionTimestamp"] = FormatRfc3339(executor_.clock().WallNow());
    object["metadata"].erase("resourceVersion");
    return {.code = 200, .body = object.dump()};
  }
  return {.code = 200, .body = R"({"kind":"Status","apiVersion":"v1","status":"Success"})"};
}

Json FakeApi::Put(const std::string& resource, Json object) {
  const std::string name = object["metadata"]["name"];
  const bool is_new = Find(resource, name) == nullptr;
  Json& meta = object["metadata"];
  meta["namespace"] = "default";
  if (is_new) {
    meta["uid"] = resource + "-" + std::to_string(++last_uid_);
    meta["creationTimestamp"] = FormatRfc3339(executor_.clock().WallNow());
    meta["generation"] = 1;
  }
  meta["resourceVersion"] = std::to_string(++version_);
  objects_[resource][name] = object;
  Notify(resource, is_new ? "ADDED" : "MODIFIED", object);
  return object;
}

const Json* FakeApi::Find(const std::string& resource, const std::string& name) const {
  const auto kind = objects_.find(resource);
  if (kind == objects_.end()) return nullptr;
  const auto found = kind->second.find(name);
  return found == kind->second.end() ? nullptr : &found->second;
}

// The kubelet takes its time; then the pod is gone, unless somebody has a finalizer on it.
void FakeApi::StopLater(const Json& dying) {
  const std::string name = dying["metadata"]["name"];
  executor_.PostAfter(milliseconds(50 + random_.Below(500)), [this, name, dying] {
    const Json* now = Find("pods", name);
    if (now == nullptr || (*now)["metadata"]["uid"] != dying["metadata"]["uid"]) return;
    if (!HasFinalizers(*now)) return Remove("pods", name);
    if (now->value("/status/phase"_json_pointer, "") != "Running") return;
    Json stopped = *now;
    stopped["status"]["phase"] = "Failed";
    Put("pods", std::move(stopped));
  });
}

std::vector<std::string> FakeApi::Names(const std::string& resource) const {
  std::vector<std::string> names;
  const auto kind = objects_.find(resource);
  if (kind == objects_.end()) return names;
  for (const auto& [name, object] : kind->second) names.push_back(name);
  return names;
}

void FakeApi::Remove(const std::string& resource, const std::string& name) {
  const auto found = objects_[resource].find(name);
  if (found == objects_[resource].end()) return;
  Json object = std::move(found->second);
  objects_[resource].erase(found);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  Notify(resource, "DELETED", object);
}

void FakeApi::DeleteJob(const std::string& kind, const std::string& name) {
  const Json* job = Find(kind, name);
  if (job == nullptr) return;
  const std::string uid = (*job)["metadata"]["uid"];
  Remove(kind, name);
  for (const char* resource : {"pods", "services", "podgroups", "configmaps"}) {
    for (const std::string& child : Names(resource)) {
      const Json* object = Find(resource, child);
      const Json& owners = object->at("metadata").value("ownerReferences", Json::array());
      if (owners.empty() || owners[0]["uid"] != uid) continue;
      executor_.PostAfter(milliseconds(100 + random_.Below(1000)), [this, resource, child, uid] {
        const Json* now = Find(resource, child);
        if (now == nullptr || (*now)["metadata"]["ownerReferences"][0]["uid"] != uid) return;
        if (!HasFinalizers(*now)) return Remove(resource, child);
        Json dying = *now;
        dying["metadata"]["deletionTimestamp"] = FormatRfc3339(executor_.clock().WallNow());
        StopLater(Put(resource, std::move(dying)));
      });
    }
  }
}

std::unique_ptr<KubeTransport::StreamHandle> FakeApi::Stream(HttpRequest request,
                                                             StreamCalls calls) {
  auto alive = std::make_shared<bool>(true);
  const Target target = Parse(request.path);
  const Watch watch{target.resource, calls, client_, alive};
  const int64_t from = std::stoll("0" + QueryValue(request.path, "resourceVersion"));
  executor_.Post([this, watch, from] {
    if (watch.client != client_ || watch.alive.expired()) return;
    watch.calls.opened(200);
    for (const Past& past : history_) {
      if (past.version > from && past.resource == watch.resource) Send(watch, past.line);
    }
    watches_.push_back(watch);
  });
  return std::make_unique<Handle>(std::move(alive));
}

void FakeApi::Notify(const std::string& resource, const char* type, const Json& object) {
  const Json event = {{"type", type}, {"object", object}};
  const std::string line = event.dump() + "\n";
  history_.push_back({version_, resource, line});
  for (const Watch& watch : watches_) {
    if (watch.resource == resource && watch.client == client_) Send(watch, line);
  }
}

void FakeApi::Send(const Watch& watch, const std::string& line) {
  if (faults_.hold_watches) {
    held_.emplace_back(watch, line);
    return;
  }
  // Equal delays keep the order of one stream only if the executor keeps that of equal times: so
  // chunks go through a queue per stream, here the held list drained by one task.
  held_.emplace_back(watch, line);
  executor_.PostAfter(milliseconds(random_.Below(4)), [this] {
    if (!faults_.hold_watches) Release();
  });
}

void FakeApi::Release() {
  std::vector<std::pair<Watch, std::string>> ready;
  ready.swap(held_);
  for (const auto& [watch, line] : ready) {
    if (watch.client == client_ && !watch.alive.expired()) watch.calls.data(line);
  }
}

}  // namespace taas
