// HTTPS on 127.0.0.1 for an Api: connections, TLS, the bearer token, bodies, streams.
//
// Nothing that comes over a connection, and nothing that the handler or a stream of it throws, ends
// the process: that request gets 500, or its connection ends, and a line of the log names it. Who
// has not shown the token has no body read, is let go after a short life, and gives way to who
// comes; probes need no token.
//
// Ownership: owns its threads and connections; the handler outlives it. Threads: all methods from
// any
// thread; the handler is called on several at once. Errors: Start: the address that could not be
// had.
//
//   ASSIGN_OR_RETURN(auto server, HttpsServer::Start({.port = 0, …}, handler));
//   server->port();

#ifndef LOCALKUBE_API_HTTPS_SERVER_H_
#define LOCALKUBE_API_HTTPS_SERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "localkube/api/api_stream.h"
#include "localkube/api/serve/stream_budget.h"

namespace taas::localkube {

// Of a kube-apiserver.
inline constexpr size_t kBodyBytesMax = 3 << 20;
inline constexpr size_t kHeaderBytesMax = 64 << 10;
// Thousands of watches are a cluster; one machine that has more has a leak.
inline constexpr int kConnectionsMax = 1'000;
inline constexpr std::chrono::seconds kHandshakeTimeout{10};
// From its first byte to the end of a request that shows the token.
inline constexpr std::chrono::seconds kStrangerTimeout{20};
// Of a client that has shown the token: a connection that is kept alive without a request, and a
// request that does not come to its end.
inline constexpr std::chrono::minutes kIdleTimeout{5};
// Beyond kConnectionsMax, for who asks whether the server is well while all others are in use.
inline constexpr int kProbeConnectionsMax = 16;
// Before accept is tried again when it fails, as it does while all descriptors are in use.
inline constexpr std::chrono::milliseconds kAcceptPause{100};
// Of a body that was refused: read and thrown away, so that the client gets to reading why.
inline constexpr size_t kDiscardBytesMax = 64 << 20;
// Handlers wait for the disk: enough of them share one flush.
inline constexpr int kServerThreads = 8;

class HttpsServer {
 public:
  struct Options {
    uint16_t port = 0;  // 0: any free one.
    std::string key_pem;
    std::string certificate_pem;
    std::string token;  // Requests without it get 401, but for probes.
    size_t connections_max = kConnectionsMax;
    std::chrono::milliseconds stranger_timeout = kStrangerTimeout;
    StreamBudget::Limits streams = {};  // What waits for clients that read slowly.
  };
  using Handler = std::function<ApiResponse(const ApiRequest&)>;

  static absl::StatusOr<std::unique_ptr<HttpsServer>> Start(Options options, Handler handler);
  // Closes all connections and ends all streams.
  virtual ~HttpsServer() = default;
  virtual uint16_t port() const = 0;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_HTTPS_SERVER_H_
