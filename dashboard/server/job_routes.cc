#include "dashboard/server/job_routes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "dashboard/server/job_writes.h"
#include "dashboard/http/problem.h"
#include "dashboard/server/tab_stream.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// An API server that writes to a slow disk; a person waits no longer.
constexpr std::chrono::seconds kWriteTimeout{20};

std::string JobPath(const WatchedJob& job) {
  const Resource resource =
      job.kind == JobKind::kTfJob ? Resource::kTfJobs : Resource::kTrainingJobs;
  return ObjectPath(resource, job.meta.ns, job.meta.name);
}

WebResponse NoSuchJob(const std::string& key) {
  return ProblemResponse(404, "NotFound", "job " + key + ": there is none that you may see");
}

std::string Plain(const HttpReply& reply) { return WithoutManagedFields(reply.body); }

}  // namespace

std::string JobKeyOf(const ApiCall& call) {
  const std::string key = std::string(call.Part(2)) + "/" + std::string(call.Part(1)) + "/" +
                          std::string(call.Part(3));
  JobKind kind;
  std::string ns, name;
  return ParseJobKey(key, &kind, &ns, &name) ? key : "";
}

void WithJob(Board& board, Access& access, ApiCall call,
             std::function<void(ApiCall call, ClusterCache::JobPtr job)> go) {
  const std::string key = JobKeyOf(call);
  const ClusterCache::JobPtr job = board.cache().FindJob(key);
  if (job == nullptr) return call.respond(NoSuchJob(key));
  FindSight(access, call.identity, board.cache().Kinds(), {job->meta.ns},
            [call, job, go = std::move(go)](const SightPtr& sight) {
              if (!sight->MaySee(job->kind, job->meta.ns)) {
                return call.respond(NoSuchJob(job->key()));
              }
              go(call, job);
            });
}

void JobRoutes::AddTo(RouteTable* table) {
  using Handler = void (JobRoutes::*)(ApiCall);
  const auto add = [&](const char* method, const char* pattern, Handler handler) {
    table->Add(method, pattern, [this, handler](ApiCall call) {
      (this->*handler)(std::move(call));
    });
  };
  add("GET", "jobs", &JobRoutes::List);
  add("POST", "jobs", &JobRoutes::Create);
  add("GET", "jobs/*/*/*", &JobRoutes::Detail);
  add("PATCH", "jobs/*/*/*", &JobRoutes::Change);
  add("DELETE", "jobs/*/*/*", &JobRoutes::Delete);
  add("GET", "jobs/*/*/*/manifest", &JobRoutes::Manifest);
  add("GET", "pods/*/*", &JobRoutes::Pod);
  add("GET", "access", &JobRoutes::NamespaceAccess);
}

void JobRoutes::List(ApiCall call) {
  if (!context_.board.synced()) {
    return call.respond(ProblemResponse(503, "Unavailable",
                                        "the first lists of jobs have not arrived yet"));
  }
  FindSight(context_.access, call.identity, context_.board.cache().Kinds(),
            context_.board.Namespaces(), [this, call](const SightPtr& sight) {
              call.respond(JsonResponse(context_.board.rows().All(*sight)));
            });
}

void JobRoutes::Detail(ApiCall call) {
  WithJob(context_.board, context_.access, std::move(call), [this](ApiCall call, auto job) {
    context_.access.Check(
        call.identity, RightsQuestions(job->kind, job->meta.ns, job->meta.name),
        [this, call, job](const std::vector<bool>& may) {
          FindSight(context_.access, call.identity, context_.board.cache().Kinds(),
                    {job->meta.ns}, [this, call, job, may](const SightPtr& sight) {
                      call.respond(JsonResponse(
                          *context_.board.DetailEvent(job->key(), *sight, RightsOf(may))));
                    });
        });
  });
}

void JobRoutes::Forward(ApiCall call, HttpRequest request, std::string what,
                        std::function<std::string(const HttpReply&)> body) {
  request.bearer_token = call.token;
  request.timeout = kWriteTimeout;
  context_.callers.Do(std::move(request), [call, what = std::move(what), body = std::move(body)](
                                              const absl::StatusOr<HttpReply>& reply) {
    if (!reply.ok()) return call.respond(ProblemResponse(reply.status()));
    if (reply->code / 100 != 2) return call.respond(ProblemResponse(*reply, what));
    call.respond(JsonResponse(body(*reply), reply->code));
  });
}

void JobRoutes::Manifest(ApiCall call) {
  WithJob(context_.board, context_.access, std::move(call), [this](ApiCall call, auto job) {
    Forward(std::move(call), {.path = JobPath(*job)}, "read job " + job->key(), Plain);
  });
}

void JobRoutes::Pod(ApiCall call) {
  const std::string ns(call.Part(1)), name(call.Part(2));
  Forward(std::move(call), {.path = ObjectPath(Resource::kPods, ns, name)},
          "read pod " + ns + "/" + name, Plain);
}

// Of who may make no job there at all nothing is read: it would cost us more than her.
void JobRoutes::Create(ApiCall call) {
  const auto namespaces =
      NamespacesNamed(call.request.body, std::string(call.request.Query("namespace")));
  context_.access.Check(
      call.identity, CreateQuestions(namespaces),
      [this, call, namespaces](const std::vector<bool>& may) {
        if (std::find(may.begin(), may.end(), true) != may.end()) return Submit(call);
        if (!context_.board.connected()) {
          return call.respond(ProblemResponse(503, "Unavailable",
                                              "submit the job: the API server does not answer, so "
                                              "nobody can say whether you may"));
        }
        call.respond(ProblemResponse(
            403, "Forbidden",
            "submit the job: you may create no jobs in namespace " +
                absl::StrJoin(namespaces, ", ") +
                "; ask for a role that lets you, or name another with ?namespace="));
      });
}

void JobRoutes::Submit(ApiCall call) {
  const bool dry_run = call.request.Is("dryRun");
  context_.reader.Post([this, call = std::move(call), dry_run]() mutable {
    absl::StatusOr<HttpRequest> request =
        CreateRequest(call.request.body, std::string(call.request.Query("namespace")), dry_run);
    context_.executor.Post(
        [this, call = std::move(call), dry_run, request = std::move(request)]() mutable {
          Send(std::move(call), dry_run, std::move(request));
        });
  });
}

void JobRoutes::Send(ApiCall call, bool dry_run, absl::StatusOr<HttpRequest> request) {
  if (!request.ok()) return call.respond(ProblemResponse(request.status()));
  Forward(std::move(call), *std::move(request), dry_run ? "try the job" : "submit the job",
          [](const HttpReply& reply) {
            return R"({"object":)" + Plain(reply) + R"(,"warnings":)" +
                   DumpJson(WarningsOf(reply.warning)) + "}";
          });
}

void JobRoutes::Change(ApiCall call) {
  WithJob(context_.board, context_.access, std::move(call), [this](ApiCall call, auto job) {
    absl::StatusOr<HttpRequest> request = ChangeRequest(*job, call.request.body);
    if (!request.ok()) return call.respond(ProblemResponse(request.status()));
    Forward(std::move(call), *std::move(request), "change job " + job->key(), Plain);
  });
}

void JobRoutes::Delete(ApiCall call) {
  WithJob(context_.board, context_.access, std::move(call), [this](ApiCall call, auto job) {
    Forward(std::move(call), DeleteRequest(*job), "delete job " + job->key(),
            [](const HttpReply&) { return std::string("{}"); });
  });
}

std::vector<AccessQuestion> JobRoutes::CreateQuestions(
    const std::vector<std::string>& namespaces) const {
  std::vector<AccessQuestion> questions;
  for (const std::string& ns : namespaces) {
    for (const JobKind kind : context_.board.cache().Kinds()) {
      const Dialect& dialect = DialectOf(kind);
      questions.push_back({.verb = "create",
                           .group = std::string(dialect.group()),
                           .resource = std::string(dialect.plural),
                           .ns = ns});
    }
  }
  return questions;
}

void JobRoutes::NamespaceAccess(ApiCall call) {
  const std::string ns(call.request.Query("namespace"));
  const auto kinds = context_.board.cache().Kinds();
  context_.access.Check(call.identity, CreateQuestions({ns}), [call, kinds, ns](const auto& may) {
    Json create = Json::object();
    for (size_t i = 0; i < kinds.size(); ++i) {
      create[std::string(DialectOf(kinds[i]).kind_name)] = bool(may[i]);
    }
    call.respond(JsonResponse(DumpJson({{"namespace", ns}, {"create", create}})));
  });
}

}  // namespace taas::dashboard
