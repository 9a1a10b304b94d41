// The whole history in one object: its file and the thread for it, what records and what answers.
//
// Ownership: what is given at construction outlives it, and it the board, which it is the witness
// of. Threads: the constructor and Close from any thread, the rest on the executor. Errors: none; a
// file that cannot be written is said in the log and in the answers.
//
//   History history({.executor = executor, .own = own, .access = access}, {.path = path});
//   Board board(own, executor, random, options, history.witness());
//   history.Start({.board = board, .fetch_series = …});   // On the executor.
//   history.AddTo(&routes.table());

#ifndef DASHBOARD_HISTORY_HISTORY_H_
#define DASHBOARD_HISTORY_HISTORY_H_

#include <functional>
#include <memory>
#include <string>

#include "dashboard/history/history_metrics.h"
#include "dashboard/history/history_recorder.h"
#include "dashboard/history/history_routes.h"
#include "dashboard/history/history_store.h"
#include "dashboard/server/access.h"
#include "dashboard/server/board.h"
#include "dashboard/server/route_table.h"
#include "operator/base/executor.h"
#include "operator/base/thread_executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class History {
 public:
  struct Context {
    Executor& executor;
    KubeTransport& own;  // With the dashboard's own account.
    Access& access;
    Executor* disk = nullptr;  // Null: a thread of its own.
  };
  struct Eyes {
    const Board& board;
    decltype(HistorySource::fetch_series) fetch_series;
    decltype(HistorySource::fetch_files) fetch_files = nullptr;
    decltype(HistorySource::fetch_checkpoints) fetch_checkpoints = nullptr;
    // What GPUs of a pod measure; null: nobody looks. `look`: somebody wants to know.
    std::function<void()> look_at_gpus = nullptr;
    std::function<void(const WatchedPod& pod, ReplicaUse* use)> add_gpus = nullptr;
  };

  History(const Context& context, HistoryStore::Options options);
  ~History();

  Board::Witness witness();
  void Start(Eyes eyes);
  void AddTo(RouteTable* table) { routes_.AddTo(table); }
  // The recorded curves of a job that the caller may see, as a SeriesAnswer; "": there are none.
  void Curves(const std::string& uid, std::function<void(std::string answer)> done);
  // Its checkpoints as they were last seen, as a JobCheckpoints; "": none were.
  void Checkpoints(const std::string& uid, std::function<void(std::string checkpoints)> done);
  // What its replicas have used, as a RecordedUsage; "": nothing is known.
  void Usage(const std::string& uid, std::function<void(std::string used)> done);
  // Writes what waits and ends its thread. Once the executor has stopped; idempotent.
  void Close();

 private:
  const Context context_;
  const std::unique_ptr<ThreadExecutor> thread_;
  HistoryStore store_;
  HistoryRoutes routes_;
  std::unique_ptr<HistoryMetrics> metrics_;
  std::unique_ptr<HistoryRecorder> recorder_;
  bool closed_ = false;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_H_
