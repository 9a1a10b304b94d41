// The one stream of an open tab: server-sent events of what its page shows, for as long as its
// token is good.
//
//   event: jobs      all rows, then what has changed; resumes after the id of the last one
//   event: job       the detail of one job, whenever something of it has changed
//   event: gpus      who holds which GPU
//   event: queues    who waits for what
//   event: cluster   whether the API server answers
//   event: end       the last one, and why
//
// Ownership: what is given at construction outlives it; owned by TabStreams, which lets it go once
// its client has gone. Threads: the executor's only. Errors: a client that does not read is cut off
// by the sink; what throws in it ends it, and the page opens another.
//
//   auto tab = std::make_unique<TabStream>(context, {.identity = who, .topics = topics});
//   tab->Open(sink);

#ifndef DASHBOARD_SERVER_TAB_STREAM_H_
#define DASHBOARD_SERVER_TAB_STREAM_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/maps/queue_sight.h"
#include "dashboard/server/access.h"
#include "dashboard/server/authenticator.h"
#include "dashboard/server/board.h"
#include "dashboard/server/catching_executor.h"
#include "dashboard/server/sight.h"
#include "dashboard/http/web_message.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

struct TabTopics {
  bool jobs = false;
  bool gpus = false;
  bool queues = false;
  std::string job;  // Of JobKey; empty: none.
};

class TabStream : public Board::Listener {
 public:
  // Proxies close what is silent for a minute, and a page takes 45 s of silence for a dead stream.
  static constexpr std::chrono::seconds kHeartbeat{15};
  // A token that was revoked, or rights that were taken away, end or change the stream within this.
  static constexpr std::chrono::seconds kRecheck{30};
  // Of the map of GPUs and the queues: they are whole each time.
  static constexpr std::chrono::seconds kMapsEvery{1};

  struct Context {
    Executor& executor;
    Board& board;
    Authenticator& authenticator;
    Access& access;
    // The GPU map and the queues, as JSON, and the namespaces that they are about.
    std::function<std::string(const Sight& sight)> gpus;
    std::function<std::string(const Sight& sight, const QueueSight& queues)> queues;
    std::function<std::set<std::string>()> map_namespaces;
  };
  struct Options {
    IdentityPtr identity;
    std::string token;
    TabTopics topics;
    std::string after;  // The last id that the tab has seen.
  };

  TabStream(const Context& context, Options options);
  ~TabStream() override;

  void Open(std::shared_ptr<StreamSink> sink);
  void OnChanges(const Board::Changes& changes) override;
  // Tells the tab that the server stops.
  void Stop();
  const IdentityPtr& identity() const { return options_.identity; }

 private:
  void Begin();
  void Look(const Board::Changes& changes);
  void Try(const std::function<void()>& run);
  void Fail();
  void Beat();
  void Recheck();
  void OnRecheck(const absl::StatusOr<IdentityPtr>& who);
  void FindOutRights();
  void OnSight(SightPtr sight);
  void SendRows();
  void SendDetail();
  void SendMaps();
  void SendCluster();
  void Send(SharedText text);
  void SendEvent(const char* name, std::string_view data);
  void End(const char* reason, const std::string& message);
  template <typename F>
  auto Guarded(F call);

  const Context context_;
  CatchingExecutor executor_;  // Whose tasks end this stream where they throw.
  Options options_;
  std::shared_ptr<StreamSink> sink_;
  SightPtr sight_;
  std::optional<QueueSight> queue_sight_;
  uint64_t namespaces_version_ = 0;  // That the sight was found out for.
  JobRights rights_;
  bool rights_known_ = false;
  uint64_t seen_ = 0;  // Number of the last change of rows that was sent.
  std::string sent_detail_, sent_gpus_, sent_queues_;
  Executor::TimerId beat_timer_ = 0, recheck_timer_ = 0, maps_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// What one may ask about one job.
std::vector<AccessQuestion> RightsQuestions(JobKind kind, const std::string& ns,
                                            const std::string& name);
JobRights RightsOf(const std::vector<bool>& may);
// "trainingjobs/ns/name" taken apart; false: it is no such key.
bool ParseJobKey(std::string_view key, JobKind* kind, std::string* ns, std::string* name);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_TAB_STREAM_H_
