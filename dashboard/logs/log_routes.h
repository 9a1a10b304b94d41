// GET api/jobs/NS/PLURAL/NAME/logs: the logs of a job's replicas, merged, as one stream.
//
//   replica=worker-1   several times; replica=worker: all of that role; none: all
//   tail=1000          of each replica; 0: all
//   since=TIME  previous=true  follow=true
//   download=1         all of it, as a text file
//
// Ownership: what is given at construction outlives it; owns the streams. Threads: the executor's
// only. Errors: answers with a Problem; once the stream has begun, notes in it.
//
//   LogRoutes logs(context);
//   logs.AddTo(&routes.table());

#ifndef DASHBOARD_LOGS_LOG_ROUTES_H_
#define DASHBOARD_LOGS_LOG_ROUTES_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dashboard/server/access.h"
#include "dashboard/server/authenticator.h"
#include "dashboard/server/board.h"
#include "dashboard/logs/log_stream.h"
#include "dashboard/server/route_table.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class LogRoutes : public Board::Listener {
 public:
  // Streams of one identity, and of all.
  static constexpr size_t kStreamsOfOneMax = 8;
  static constexpr size_t kStreamsMax = 64;
  // Each holds windows of its pods, one and a half where all are full. A new stream gets half of
  // what the others leave of kAllWindowsBytes, up to LogStream::kWindowsBytes; never less than
  // kLeastWindowsBytes, so 64 streams of some pods each hold 230 MB at the very worst.
  static constexpr size_t kAllWindowsBytes = 96 << 20;
  static constexpr size_t kLeastWindowsBytes = 1 << 20;
  // Lines of each replica where nothing is said.
  static constexpr int64_t kTailDefault = 1'000;
  // A token that was revoked ends its streams within this.
  static constexpr std::chrono::seconds kRecheck{30};

  struct Context {
    Executor& executor;
    Board& board;
    Authenticator& authenticator;
    Access& access;
    KubeTransport& callers;  // Without credentials of its own.
  };

  explicit LogRoutes(const Context& context);
  ~LogRoutes() override;
  void AddTo(RouteTable* table);
  void OnChanges(const Board::Changes& changes) override;
  // Ends all streams: the server stops.
  void Stop();
  size_t streams() const { return streams_.size(); }
  // What the windows of a new stream would be.
  size_t WindowsBytes() const;

 private:
  struct Open {
    IdentityPtr identity;
    std::string token;
    std::string key;  // Of JobKey.
    size_t windows_bytes = 0;
    std::unique_ptr<LogStream> stream;
  };

  void Logs(ApiCall call);
  void Begin(const ApiCall& call, const ClusterCache::JobPtr& job);
  LogPods PodsOf(const std::string& key, const std::string& uid) const;
  void Respond(const ApiCall& call, uint64_t id, const std::string& file);
  void Recheck();
  template <typename F>
  auto Guarded(F call);

  const Context context_;
  uint64_t next_ = 1;
  std::map<uint64_t, Open> streams_;
  Executor::TimerId recheck_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// What the query asks for; InvalidArgument says which value is none.
absl::StatusOr<LogStream::Options> LogOptionsOf(const WebRequest& request);

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_LOG_ROUTES_H_
