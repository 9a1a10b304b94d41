// GET api/jobs/NS/PLURAL/NAME/usage: the CPU and memory that a job's pods use, as metrics.k8s.io
// says it.
//
// Beside it usage/recorded: what the history has recorded of the replicas, also of a job that is
// over, for who may ask for the other.
//
// It is asked with the caller's own token, while somebody looks, and kept some seconds: a measure
// is of more than that. A cluster without metrics is no error, and not asked again for a while.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors:
// answers with a Problem; where nothing is measured, the answer says why.
//
//   UsageRoutes usage(context);
//   usage.AddTo(&routes.table());

#ifndef DASHBOARD_SERVER_USAGE_ROUTES_H_
#define DASHBOARD_SERVER_USAGE_ROUTES_H_

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dashboard/server/access.h"
#include "dashboard/server/board.h"
#include "dashboard/server/route_table.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class UsageRoutes {
 public:
  // metrics-server measures each 15 s, the local cluster each 2 s.
  static constexpr std::chrono::seconds kFresh{3};
  // Of a cluster that measures nothing, or not for this caller.
  static constexpr std::chrono::seconds kNothingFresh{60};
  // Answers that are kept: jobs that somebody looks at.
  static constexpr size_t kKeptMax = 500;
  // Of 2,000 pods with some labels each.
  static constexpr size_t kBodyBytesMax = 8 << 20;
  static constexpr std::chrono::seconds kTimeout{5};

  struct Context {
    Executor& executor;
    Board& board;
    Access& access;
    KubeTransport& callers;  // Without credentials of its own.
    // What the history has of it, as a RecordedUsage; "": nothing. Null: there is no history.
    std::function<void(const std::string& uid, std::function<void(std::string used)> done)>
        recorded = nullptr;
  };

  explicit UsageRoutes(Context context) : context_(std::move(context)) {}
  void AddTo(RouteTable* table);

 private:
  using Respond = std::function<void(const std::string& answer)>;
  struct Kept {
    std::string answer;
    Clock::Time until{};
    std::vector<Respond> waiting;  // Not empty: it is being asked for.
  };

  void Usage(const ApiCall& call, const ClusterCache::JobPtr& job);
  void Recorded(const ApiCall& call, const ClusterCache::JobPtr& job);
  void OnReply(const std::string& key, const ClusterCache::JobPtr& job,
               const absl::StatusOr<HttpReply>& reply);
  void MakeRoom();

  const Context context_;
  std::map<std::string, Kept> kept_;  // By caller and job.
};

// Whether a caller may know what pods of a namespace use.
AccessQuestion MetricsQuestion(const std::string& ns);

// A JobUsage of dashboard/web: of a list of PodMetrics, those with one of these names.
std::string UsageAnswer(std::string_view list, const std::set<std::string>& pods);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_USAGE_ROUTES_H_
