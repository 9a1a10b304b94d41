// A request to the API and its answer, as values; and the part of an answer that comes bit by bit.
//
// Ownership: values; whoever has a stream ends it by destroying it. Threads: see ApiStream.
// Errors: none of
// their own.
//
//   ApiRequest request{.method = "GET", .target = "/api/v1/pods?watch=1"};

#ifndef LOCALKUBE_API_API_STREAM_H_
#define LOCALKUBE_API_API_STREAM_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
    // Whether the client has taken enough to be given more; null: always. Once it was asked and
    // said no, Resume() follows. For streams that can wait: of the others a client that reads
    // slowly loses its connection.
    std::function<bool()> ready = nullptr;
  };
  virtual ~ApiStream() = default;
  // Calls come from threads of the server, in order, and must be quick. Once.
  virtual void Start(Calls calls) = 0;
  // Called by the owner about every tick_interval(): reads logs, sends bookmarks, ends what timed
  // out.
  virtual void Tick() = 0;
  virtual std::chrono::milliseconds tick_interval() const = 0;
  // See Calls::ready; from the thread of Tick().
  virtual void Resume() {}
  // It has more at once: Tick() again when the client has taken what was given, not before.
  virtual bool HasMore() const { return false; }
};

struct ApiResponse {
  int code = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::unique_ptr<ApiStream> stream;  // Not null: the body comes from here.
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_API_STREAM_H_
