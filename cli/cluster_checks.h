// What TaaS needs of a cluster, judged from the server's answers.
//
// Ownership: values. Threads: any. Errors: none; each trouble is a finding.
//
//   findings.push_back(CheckCrd(JobKind::kTfJob, reply));

#ifndef CLI_CLUSTER_CHECKS_H_
#define CLI_CLUSTER_CHECKS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/allocation.h"
#include "cli/finding.h"
#include "cli/operator_scope.h"
#include "operator/api/job.h"
#include "operator/base/clock.h"

namespace taas {

// GET /version.
Finding CheckVersion(const absl::StatusOr<std::string>& reply);
// Whether it is the local cluster, which has its operator inside.
bool IsLocalCluster(const absl::StatusOr<std::string>& version);

// "trainingjobs.taas.dev"
std::string CrdName(JobKind kind);
// GET of the CustomResourceDefinition. Compared with the one inside this program.
Finding CheckCrd(JobKind kind, const absl::StatusOr<std::string>& reply);

// One thing that this user may want to do.
struct Right {
  std::string verb, group, resource;
  std::string subresource;
};
const std::vector<Right>& NeededRights();
std::string AccessReview(const Right& right, const std::string& ns);  // The request's body.
// `replies`: one for each of NeededRights().
Finding CheckRights(const std::vector<absl::StatusOr<std::string>>& replies,
                    const std::string& ns);

// Jobs that no operator has looked at although it had the time show that none runs, or none for
// their namespace. `ns`: where this user works.
Finding CheckOperator(const std::vector<Job>& jobs, int operator_pods_running, bool is_local,
                      const OperatorScope& scope, const std::string& ns, Clock::WallTime now);

Finding CheckNodes(const absl::Status& listed, const std::map<std::string, NodeUse>& nodes);

}  // namespace taas

#endif  // CLI_CLUSTER_CHECKS_H_
