// The one way to the Kubernetes API: requests whose replies arrive on an executor.
//
// Everything that speaks to an API server does it through this interface, so that production
// (cpprestsdk), simulations (localkube in the same process, with faults and virtual time) and tests
// run the same code.
//
// Ownership: outlives all that was started on it. Callbacks are owned by the transport until they
// ran or were cancelled. Threads: methods from any thread; callbacks on the executor given at
// construction, never inside the call. Errors: a callback gets a Status only if no reply came:
// Unavailable (nothing was sent, or a read failed), Unknown (a write may have been applied),
// DeadlineExceeded (a read took too long), ResourceExhausted (what was read is too long), Aborted
// (the write gate is shut). Replies of any HTTP code are replies.
//
//   transport.Do({.verb = Verb::kGet, .path = "/api/v1/namespaces/ns/pods/a"},
//                [](absl::StatusOr<HttpReply> reply) { … });

#ifndef OPERATOR_KUBE_TRANSPORT_H_
#define OPERATOR_KUBE_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

// Writes under way at one time where nobody says another number. More wait for their turn, in
// order; each needs a connection, which costs both ends a greeting and 100 KB. Sixteen keep a
// server of two cores busy; 24 or 32 make 2,000 pods no faster and cost its scheduler time
// (docs/design/0006-limits-of-requests.md).
inline constexpr int kApiWritesDefault = 16;

// Of a write that has to wait for its turn.
enum class Order {
  kFirst,   // Before those that wait: somebody waits for what it tells.
  kInTurn,
  kLast,    // When nothing else waits.
};

enum class Verb { kGet, kPost, kPut, kPatch, kDelete };

struct HttpRequest {
  Verb verb = Verb::kGet;
  std::string path;          // From "/" on, with query, percent-encoded.
  std::string body;
  std::string content_type;  // Empty: application/json where there is a body.
  std::string accept;        // Empty: application/json.
  // Of the user for whom this is asked, instead of what the transport was made with. Only for a
  // transport without credentials of its own: a server takes a client's certificate for its answer
  // to who asks, whatever token comes with it.
  std::string bearer_token;
  Order order = Order::kInTurn;
  // From sending to the last byte of the reply.
  std::chrono::milliseconds timeout{10'000};
  size_t body_bytes_max = 0;  // Of a reply that is not a stream; 0: what the transport takes.
};

struct HttpReply {
  int code = 0;
  std::string body;
  std::string warning;  // The header of this name: "299 - \"TEXT\"", several with commas between.
  // From Retry-After; zero: none was given.
  std::chrono::seconds retry_after{0};
};

class KubeTransport {
 public:
  using OnReply = std::function<void(absl::StatusOr<HttpReply>)>;

  // Calls arrive in this order: opened once, data any number of times, ended once.
  struct StreamCalls {
    // The reply's code. Unless it is 200, `data` brings the error body before `ended`.
    std::function<void(int code)> opened;
    std::function<void(std::string_view chunk)> data;
    // OK: the server ended the stream.
    std::function<void(absl::Status)> ended;
  };

  // Destroying it cancels the stream; no callback runs after the destructor returned if it was
  // called on the executor.
  class StreamHandle {
   public:
    virtual ~StreamHandle() = default;
  };

  virtual ~KubeTransport() = default;
  virtual void Do(HttpRequest request, OnReply done) = 0;
  // `request.timeout` bounds the time without any byte, not the whole stream.
  virtual std::unique_ptr<StreamHandle> Stream(HttpRequest request, StreamCalls calls) = 0;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_TRANSPORT_H_
