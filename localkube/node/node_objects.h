// The Node objects of the local cluster: what each node has and says of itself.
//
// Labels, taints and cordons that a user set stay over restarts; nodes that the cluster had and has
// no more go.
//
// Ownership: none. Threads: any. Errors: those of the API.
//
//   RETURN_IF_ERROR(WriteNodeObjects(calls, capacities, clock.WallNow()));

#ifndef LOCALKUBE_NODE_NODE_OBJECTS_H_
#define LOCALKUBE_NODE_NODE_OBJECTS_H_

#include <vector>

#include "absl/status/status.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/schedule.h"
#include "operator/base/clock.h"

namespace taas::localkube {

absl::Status WriteNodeObjects(ApiCalls& api, const std::vector<NodeCapacity>& nodes,
                              Clock::WallTime now);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_NODE_OBJECTS_H_
