// Jobs: reading them, and changing them with the caller's own rights.
//
//   GET    api/jobs                            rows
//   POST   api/jobs[?dryRun=true&namespace=N]  a manifest
//   GET    api/jobs/NS/PLURAL/NAME             detail
//   PATCH  api/jobs/NS/PLURAL/NAME             suspend, resume, scale
//   DELETE api/jobs/NS/PLURAL/NAME
//   GET    api/jobs/NS/PLURAL/NAME/manifest    as the API server has it
//   GET    api/pods/NS/NAME                    as the API server has it
//   GET    api/access?namespace=N              what may be made there
//
// Ownership: what is given at construction outlives it. Threads: the
// executor's only. Errors: answers with a Problem.
//
//   JobRoutes jobs(context);
//   jobs.AddTo(&routes.table());

#ifndef DASHBOARD_SERVER_JOB_ROUTES_H_
#define DASHBOARD_SERVER_JOB_ROUTES_H_

#include <memory>
#include <string>
#include <vector>

#include "dashboard/server/access.h"
#include "dashboard/server/board.h"
#include "dashboard/server/route_table.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class JobRoutes {
 public:
  struct Context {
    Executor& executor;
    Executor& reader;  // Of manifests: a large one takes half a second, and others wait for nobody.
    Board& board;
    Access& access;
    KubeTransport& callers;  // Without credentials of its own.
  };

  explicit JobRoutes(const Context& context) : context_(context) {}
  void AddTo(RouteTable* table);

 private:
  void List(ApiCall call);
  void Detail(ApiCall call);
  void Manifest(ApiCall call);
  void Pod(ApiCall call);
  void Create(ApiCall call);
  void Change(ApiCall call);
  void Delete(ApiCall call);
  void Submit(ApiCall call);
  void Send(ApiCall call, bool dry_run, absl::StatusOr<HttpRequest> request);
  void NamespaceAccess(ApiCall call);
  // Whether she may make jobs of each kind in each namespace; kinds of one stand together.
  std::vector<AccessQuestion> CreateQuestions(const std::vector<std::string>& namespaces) const;
  // Asks the API server as the caller, and answers with what it says.
  void Forward(ApiCall call, HttpRequest request, std::string what,
               std::function<std::string(const HttpReply&)> body);

  const Context context_;
};

// "trainingjobs/NS/NAME" of a path jobs/NS/PLURAL/NAME; empty: it names no job.
std::string JobKeyOf(const ApiCall& call);
// Calls `go` if the caller sees this job, else answers that there is none: who may not see a job
// does not hear that it exists.
void WithJob(Board& board, Access& access, ApiCall call,
             std::function<void(ApiCall call, ClusterCache::JobPtr job)> go);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_JOB_ROUTES_H_
