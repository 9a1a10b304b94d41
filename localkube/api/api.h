// The Kubernetes API over a store: a request in, an answer out, no sockets.
//
// Knows paths, verbs, kinds and REST semantics as a kube-apiserver has them: conflicts,
// generation, status
// and scale subresources, graceful deletion, selectors, tables, watches. Who speaks HTTP is
// ApiServer; the
// node and the tests call Handle directly and are trusted.
//
// Ownership: everything given at construction outlives it and its streams. Threads: Handle from
// any thread.
// Errors: answers with a metav1.Status body, as a kube-apiserver gives; Handle itself never fails.
//
//   ApiResponse reply =
//       api.Handle({.method = "GET", .target = "/api/v1/namespaces/default/pods/a"});
//   if (reply.code == 404) …

#ifndef LOCALKUBE_API_API_H_
#define LOCALKUBE_API_API_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "localkube/api/api_stream.h"
#include "localkube/api/job_admission.h"
#include "localkube/api/log_source.h"
#include "localkube/api/store.h"
#include "localkube/api/usage_source.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"

namespace taas::localkube {

class Api {
 public:
  // `logs` may be null: no pod has logs then; and so may `usage`: nothing is measured then.
  // `token` is the one that the cluster's user shows, for who asks whose it is (reviews.h).
  // `advice`, if any, is asked about each new job.
  Api(Store& store, const Clock& clock, Random& random, LogSource* logs,
      const UsageSource* usage = nullptr, std::string token = "", JobAdvice advice = nullptr);
  ~Api();

  // The namespaces that always exist, and what belongs in each. Once per start.
  absl::Status Bootstrap();

  ApiResponse Handle(const ApiRequest& request);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_API_H_
