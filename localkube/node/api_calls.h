// Calls to the API server of the same process, with a Status instead of an HTTP code.
//
// Ownership: the Api outlives it. Threads: any. Errors: NotFound (404), Aborted (409),
// InvalidArgument (400, 422), Unavailable (the rest), each with the verb, the path and the server's
// message.
//
//   ApiCalls calls(server->api());
//   RETURN_IF_ERROR(calls.Put(PodPath("ns", "a") + "/status", pod).status());

#ifndef LOCALKUBE_NODE_API_CALLS_H_
#define LOCALKUBE_NODE_API_CALLS_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "localkube/api/api.h"

namespace taas::localkube {

class ApiCalls {
 public:
  explicit ApiCalls(Api& api) : api_(api) {}

  // Gets the value of each header Warning of an answer.
  void set_on_warning(std::function<void(const std::string& value)> call) {
    on_warning_ = std::move(call);
  }

  absl::StatusOr<std::string> Get(const std::string& path);
  absl::StatusOr<std::string> Post(const std::string& path, const std::string& body);
  absl::StatusOr<std::string> Put(const std::string& path, const std::string& body);
  // A JSON merge patch.
  absl::StatusOr<std::string> Patch(const std::string& path, const std::string& body);
  absl::StatusOr<std::string> Delete(const std::string& path, const std::string& body);

 private:
  absl::StatusOr<std::string> Call(const char* method, const std::string& path,
                                   const std::string& body);

  Api& api_;
  std::function<void(const std::string& value)> on_warning_;
};

std::string PodPath(const std::string& ns, const std::string& name);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_API_CALLS_H_
