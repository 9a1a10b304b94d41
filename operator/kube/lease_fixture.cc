#include "operator/kube/lease_fixture.h"

#include <utility>

#include "operator/kube/api_path.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

HttpReply ErrorReply(int code, const std::string& reason, const std::string& message) {
  const Json status = {{"kind", "Status"},   {"apiVersion", "v1"}, {"status", "Failure"},
                       {"message", message}, {"reason", reason},   {"code", code}};
  return {.code = code, .body = status.dump()};
}

HttpReply Conflict() { return ErrorReply(409, "Conflict", "the object has been modified"); }

std::string MetaText(const Json& object, const char* name) {
  return object.at("metadata").value(name, "");
}

}  // namespace

Executor::TimerId SimProcess::PostAfter(Clock::Duration delay, Task task) {
  const TimerId id = ++last_id_;
  if (dead_) return id;
  tasks_[id] = {.task = std::move(task)};
  const auto real = std::chrono::duration_cast<Clock::Duration>(delay / clock_.rate);
  world_.PostAfter(real, [this, id] {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return;
    found->second.due = true;
    if (!frozen_) RunDue(id);
  });
  return id;
}

void SimProcess::RunDue(TimerId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  const Task task = std::move(found->second.task);
  tasks_.erase(found);
  task();
}

void SimProcess::Thaw() {
  frozen_ = false;
  for (const auto& [id, waiting] : tasks_) {
    if (waiting.due) world_.Post([this, id = id] { RunDue(id); });
  }
}

std::string LeaseServer::holder() const {
  return object_.value("/spec/holderIdentity"_json_pointer, "");
}

int64_t LeaseServer::transitions() const {
  return object_.value("/spec/leaseTransitions"_json_pointer, int64_t{0});
}

HttpReply LeaseServer::Store(Json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  object_ = std::move(object);
  return {.code = 200, .body = object_.dump()};
}

HttpReply LeaseServer::Handle(const HttpRequest& request) {
  const bool exists = object_.is_object();
  if (request.verb == Verb::kGet) {
    ++gets_;
    if (!exists) return ErrorReply(404, "NotFound", "leases \"taas-operator\" not found");
    return {.code = 200, .body = object_.dump()};
  }
  Json object = Json::parse(request.body);
  if (request.path == CollectionPath(Resource::kEvents, "taas")) {
    const std::string name = MetaText(object, "name");
    events_[name] = std::move(object);
    return {.code = 201, .body = events_[name].dump()};
  }
  ++writes_;
  if (request.verb == Verb::kPost) {
    if (exists) return ErrorReply(409, "AlreadyExists", "leases already exists");
    object["metadata"]["uid"] = "lease-" + std::to_string(++last_uid_);
    HttpReply reply = Store(std::move(object));
    reply.code = 201;
    return reply;
  }
  const std::string uid = MetaText(object, "uid");
  if (!exists) {
    if (!uid.empty()) return Conflict();
    object["metadata"]["uid"] = "lease-" + std::to_string(++last_uid_);
    return Store(std::move(object));
  }
  const bool same = uid.empty() || uid == MetaText(object_, "uid");
  const bool current = MetaText(object, "resourceVersion") == MetaText(object_, "resourceVersion");
  return same && current ? Store(std::move(object)) : Conflict();
}

void LeaseServer::Edit(const Json& change) {
  Json object = object_;
  object.merge_patch(change);
  Store(std::move(object));
}

void LeaseServer::Restore(Json object) {
  object_ = std::move(object);
  version_ = std::stoll(MetaText(object_, "resourceVersion"));
}

void LeaseServer::Put(const std::string& holder, int seconds, int64_t transitions) {
  // As a holder writes it whose wall clock is years behind.
  const std::string time = "2001-01-01T00:00:00." + std::to_string(100'000 + version_) + "Z";
  const std::string uid =
      object_.is_object() ? MetaText(object_, "uid") : "lease-" + std::to_string(++last_uid_);
  Store({{"metadata", {{"name", "taas-operator"}, {"namespace", "taas"}, {"uid", uid}}},
         {"spec",
          {{"holderIdentity", holder},
           {"leaseDurationSeconds", seconds},
           {"leaseTransitions", transitions},
           {"renewTime", time}}}});
}

milliseconds LeaseLink::Delay() {
  return milliseconds(1 + random_.Below(static_cast<uint64_t>(faults_.delay_max.count())));
}

void LeaseLink::Do(HttpRequest request, OnReply done) {
  // A process that waits for an answer gives up by its own clock.
  const bool read = request.verb == Verb::kGet;
  auto answered = std::make_shared<bool>(false);
  const auto once = [answered, done](absl::StatusOr<HttpReply> reply) {
    if (!std::exchange(*answered, true)) done(std::move(reply));
  };
  if (faults_.cut) {
    return process_.Post([once] { once(absl::UnavailableError("connection refused")); });
  }
  process_.PostAfter(request.timeout, [once, read] {
    once(read ? absl::DeadlineExceededError("no reply in time")
              : absl::UnknownError("no reply in time"));
  });
  if (faults_.hangs || random_.Unit() < faults_.random_loss) return;
  world_.PostAfter(Delay(), [this, request = std::move(request), once] {
    HttpReply reply = faults_.answers > 0
                          ? ErrorReply(faults_.answers, "Trouble", "the test says so")
                          : server_.Handle(request);
    if (faults_.loses_replies || random_.Unit() < faults_.random_loss) return;
    world_.PostAfter(Delay(), [this, reply = std::move(reply), once] {
      process_.Post([reply, once] { once(reply); });
    });
  });
}

Candidate::Candidate(const std::string& name, LeaseServer& server, SimExecutor& world,
                     Random& random, LeaseTimes times, double rate)
    : process(world, rate),
      link(server, world, process, random),
      gate(process.clock()),
      elector(link, process, random, gate,
              {.name = {.ns = "taas", .name = "taas-operator"}, .identity = name, .times = times},
              {.on_lead = [this](int64_t now) { epoch = now; },
               .on_lost = [this](const std::string& why) { lost.push_back(why); },
               .known_epoch = [this] { return known_epoch; }}) {}

void Candidate::Release() {
  elector.Release([this](absl::Status status) { released.push_back(std::move(status)); });
}

Candidate& LeaseWorld::Add(const std::string& name, LeaseTimes times, double rate) {
  candidates.push_back(
      std::make_unique<Candidate>(name, server, executor, random, times, rate));
  candidates.back()->elector.Start();
  return *candidates.back();
}

}  // namespace taas
