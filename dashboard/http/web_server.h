// HTTP/1.1 for the dashboard: connections, limits, compression, streams. Knows nothing of jobs.
//
// Whatever a client does, it holds one connection for a bounded time: a request that does not come
// to its end, a client that does not take its answer and a connection that says nothing are closed.
// When all places are taken, a connection that has not shown a good token goes for a new one, the
// oldest first; and when all have shown one, probes still get in.
//
// A request is always answered: one whose handler drops `respond` without a call of it, since
// something threw on the way, is answered with 500.
//
// Ownership: owns its threads and connections; what the handler uses outlives it. Threads: Start
// and the destructor from any thread; the handler runs on several at once, and `respond` may be
// called from any, also after the server is gone. Errors: Start: InvalidArgument for an address
// that is none, Unavailable for one that cannot be listened on.
//
//   ASSIGN_OR_RETURN(auto server, WebServer::Start({.address = "127.0.0.1:0"}, handler));
//   server->port();

#ifndef DASHBOARD_HTTP_WEB_SERVER_H_
#define DASHBOARD_HTTP_WEB_SERVER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/http/web_message.h"

namespace taas::dashboard {

// A manifest is the largest thing that is sent to us; an API server takes no more either.
inline constexpr size_t kWebBodyBytesMax = 3 << 20;
// A token of an identity provider with many groups has 8 KB; cookies come beside it.
inline constexpr size_t kWebHeaderBytesMax = 32 << 10;
// Of all streams together, what their clients have not taken: a quarter of what the chart gives.
inline constexpr size_t kWebUnsentBytesMax = 128 << 20;
// Some hundred open tabs with a stream and a few kept connections each. Half of the process's
// descriptors, where those are fewer: logs, copies and the API server need some, too.
inline constexpr int kWebConnectionsMax = 2'000;
// Beside those, for kubelets and load balancers: they ask one at a time.
inline constexpr size_t kWebProbesMax = 8;
// Bodies up to this are always taken: most manifests are smaller.
inline constexpr size_t kWebSmallBodyBytes = 16 << 10;
// Of all larger ones that are on their way or being worked on: who sends them may be anybody.
inline constexpr size_t kWebLargeBodiesBytesMax = 64 << 20;
// Answers smaller than this are not worth compressing.
inline constexpr size_t kCompressBytesMin = 1'024;

class WebServer {
 public:
  struct Options {
    std::string address;    // "host:port" with a numeric host or "localhost"; port 0: any free one.
    std::string base_path;  // "" or "/prefix".
    // From the first byte of a request to its last.
    std::chrono::milliseconds request_timeout{20'000};
    // Of a connection between two requests; longer than a proxy's 60 s.
    std::chrono::milliseconds idle_timeout{75'000};
    // The same, of one that has not shown a good token: from opening it to a request, and while a
    // page loads its files.
    std::chrono::milliseconds stranger_timeout{10'000};
    int connections_max = kWebConnectionsMax;
    size_t large_bodies_bytes_max = kWebLargeBodiesBytesMax;
    std::vector<std::string> probes;  // Paths of one part, such as "healthz".
    // For a client to take what was sent.
    std::chrono::milliseconds write_timeout{30'000};
    // Of one stream, that its client has not taken; beyond it the stream ends.
    size_t unsent_bytes_max = 16 << 20;
    // Of all streams; beyond it the one ends that is most behind.
    size_t all_unsent_bytes_max = kWebUnsentBytesMax;
  };

  static absl::StatusOr<std::unique_ptr<WebServer>> Start(Options options, WebHandler handler);
  // Closes all connections; the `closed` of open streams is called before it returns.
  virtual ~WebServer() = default;
  virtual uint16_t port() const = 0;
  virtual int connections() const = 0;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_WEB_SERVER_H_
