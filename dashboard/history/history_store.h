// The history as the dashboard's executor sees it: nothing here waits for a disk.
//
// What is put waits for a moment, and is written with others in one transaction on the disk's own
// executor; reads run there too, in between. While the file cannot be opened or written the
// dashboard goes on: changes wait in memory up to a limit, the log has one line, and `Trouble` says
// it to whoever asks. A file that turns out to be damaged is put aside and a new one begun.
//
// Ownership: both executors outlive it, the disk's until Close has called back. Threads: the
// executor's only; callbacks come there, never inside the call. Errors: of a read: Unavailable with
// the trouble, ResourceExhausted where too many wait.
//
//   HistoryStore store(executor, disk, {.path = "/data/history.db"});
//   store.Start([](std::vector<HistoryOpen> jobs) { … });
//   store.Page({.places = places}, [](absl::StatusOr<HistoryPage> page) { … });

#ifndef DASHBOARD_HISTORY_HISTORY_STORE_H_
#define DASHBOARD_HISTORY_HISTORY_STORE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/history/history_entry.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

class HistoryTables;

class HistoryStore {
 public:
  // A transaction costs the same for one change and for many.
  static constexpr std::chrono::milliseconds kGather{500};
  // Of one transaction: some milliseconds, in which a reader waits.
  static constexpr size_t kBatchMax = 200;
  // Of changes in memory while the disk is away; the oldest go.
  static constexpr size_t kWaitingBytesMax = 32 << 20;
  static constexpr size_t kReadsMax = 64;
  // A disk that was full or a file that another process held may be well again.
  static constexpr std::chrono::seconds kRetry{30};
  static constexpr std::chrono::minutes kTrimEvery{10};

  struct Options {
    std::string path;
    HistoryLimits limits;
  };
  // Called each time that a file was opened, with the jobs in it that may still exist.
  using Opened = std::function<void(std::vector<HistoryOpen> jobs)>;
  template <typename T>
  using Done = std::function<void(absl::StatusOr<T>)>;

  HistoryStore(Executor& executor, Executor& disk, Options options);
  ~HistoryStore();

  void Start(Opened opened);
  // Writes what waits and closes the file; `closed` is called on the disk's executor, which may
  // stop then. Once the other executor has stopped, from any thread.
  void Close(std::function<void()> closed);

  // A later change of the same thing replaces one that waits. While nothing can be written, what
  // replicas use is not kept.
  void Put(HistoryChange change);

  void Places(std::string ns, Done<std::vector<HistoryPlace>> done);
  void Page(HistoryQuery query, Done<HistoryPage> done);
  void Locate(std::string uid, Done<std::optional<HistoryName>> done);
  void Checkpoints(std::string uid, Done<std::string> done);
  void Curves(std::string uid, Done<std::string> done);
  void Usage(std::string uid, Done<std::string> done);
  void Load(std::string uid, HistoryParts parts, Done<std::optional<HistoryRecord>> done);

  // Why nothing is being written, as one sentence for a person; empty: it is. Names no path.
  std::string Trouble() const;
  size_t waiting_bytes() const { return waiting_bytes_; }

 private:
  struct Waiting {
    std::string key;
    HistoryChange change;
    size_t bytes = 0;
  };
  using Batch = std::vector<Waiting>;
  // What only tasks of the disk's executor touch.
  struct Disk;
  struct OpenResult;

  void Open(bool damaged);
  void OnOpened(const OpenResult& result, bool damaged);
  void OpenLater(bool damaged);
  void Gather(Clock::Duration delay);
  void Flush();
  void OnWritten(const absl::Status& status, const std::shared_ptr<const Batch>& batch);
  void PutBack(const Batch& batch);
  void Drop(std::list<Waiting>::iterator waiting);
  void Trim();
  void Damaged(const absl::Status& status);
  void TroubleBegins(const absl::Status& status);
  void TroubleEnds();
  template <typename T>
  void Read(std::function<absl::StatusOr<T>(HistoryTables&)> read, Done<T> done);
  // Runs `work` on the disk and `then` with its result here, unless this is gone by then.
  template <typename T>
  void OnDisk(std::function<T(Disk&)> work, std::function<void(T)> then);

  Executor& executor_;
  Executor& disk_executor_;
  const Options options_;
  Opened opened_;
  std::shared_ptr<Disk> disk_;
  bool open_ = false;
  bool opening_ = false;
  bool writing_ = false;
  bool trimming_ = false;
  size_t reads_ = 0;
  std::list<Waiting> waiting_;  // In the order in which they are written.
  std::map<std::string, std::list<Waiting>::iterator> by_key_;
  size_t waiting_bytes_ = 0;
  uint64_t lost_ = 0;  // Changes, since the trouble began.
  std::string trouble_;
  Clock::WallTime trouble_since_{};
  Executor::TimerId gather_timer_ = 0, open_timer_ = 0, trim_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_STORE_H_
