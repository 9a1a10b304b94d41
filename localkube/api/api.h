// The Kubernetes API over a store: a request in, an answer out, no sockets.
//
// Knows paths, verbs, kinds and REST semantics as a kube-apiserver has them: conflicts, generation, status
// and scale subresources, graceful deletion, selectors, tables, watches. Who speaks HTTP is ApiServer; the
// node and the tests call Handle directly and are trusted.
//
// Ownership: everything given at construction outlives it and its streams. Threads: Handle from any thread.
// Errors: answers with a metav1.Status body, as a kube-apiserver gives; Handle itself never fails.
//
//   ApiResponse reply = api.Handle({.method = "GET", .target = "/api/v1/namespaces/default/pods/a"});
//   if (reply.code == 404) …

#ifndef LOCALKUBE_API_API_H_
#define LOCALKUBE_API_API_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "localkube/api/log_source.h"
#include "localkube/api/store.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"

namespace taas::localkube {

struct ApiRequest {
  std::string method;  // GET, POST, PUT, PATCH, DELETE
  std::string target;  // Path and query, percent-encoded.
  std::string body;
  std::string content_type;  // Empty: application/json (PATCH: application/merge-patch+json).
  std::string accept;        // Empty: application/json.
};

// The rest of an answer that comes bit by bit: a watch, or a log that is followed.
//
// Destroying it ends it; no call runs after the destructor returned.
class ApiStream {
 public:
  struct Calls {
    std::function<void(std::string chunk)> data;
    std::function<void()> ended;  // The last call. The stream may not be destroyed inside it.
  };
  virtual ~ApiStream() = default;
  // Calls come from threads of the server, in order, and must be quick. Once.
  virtual void Start(Calls calls) = 0;
  // Called by the owner about every kStreamTick: reads logs, sends bookmarks, ends what timed out.
  virtual void Tick() = 0;
};

struct ApiResponse {
  int code = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::unique_ptr<ApiStream> stream;  // Not null: the body comes from here.
};

class Api {
 public:
  // `logs` may be null: no pod has logs then.
  Api(Store& store, const Clock& clock, Random& random, LogSource* logs);
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
