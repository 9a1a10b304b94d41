#include "dashboard/history/history_store.h"

#include <utility>
#include <variant>

#include "dashboard/history/history_file.h"
#include "dashboard/history/history_tables.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

// What belongs together has the same key: only its newest state is worth writing.
std::string KeyOf(const HistoryJob& job) { return "job/" + job.uid; }
std::string KeyOf(const HistoryManifest& manifest) { return "manifest/" + manifest.uid; }
std::string KeyOf(const HistorySeries& series) { return "series/" + series.uid; }
std::string KeyOf(const HistoryFiles& files) { return "files/" + files.uid; }
std::string KeyOf(const HistoryLastPoints& last) { return "last/" + last.uid; }
std::string KeyOf(const HistoryLog& log) { return "log/" + log.uid + "/" + log.tail.replica; }
std::string KeyOf(const HistoryCheckpoints& seen) { return "checkpoints/" + seen.uid; }
// Each is of a time of its own.
std::string KeyOf(const HistoryUsage& usage) {
  return "usage/" + usage.uid + "/" + std::to_string(usage.sample.at);
}
std::string KeyOf(const HistoryGone& gone) { return "gone/" + gone.uid; }

size_t BytesOf(const HistoryJob& job) {
  size_t bytes = job.row.size() + job.detail.size() + job.search.size();
  for (const HistoryEvent& event : job.events) bytes += event.id.size() + event.json.size();
  return bytes;
}
size_t BytesOf(const HistoryManifest& manifest) { return manifest.json.size(); }
size_t BytesOf(const HistorySeries& series) { return series.answer.size(); }
size_t BytesOf(const HistoryFiles& files) { return files.curves.size(); }
size_t BytesOf(const HistoryLastPoints&) { return 0; }
size_t BytesOf(const HistoryLog& log) {
  size_t bytes = 0;
  for (const HistoryLine& line : log.tail.lines) bytes += line.t.size() + line.l.size();
  return bytes;
}
size_t BytesOf(const HistoryCheckpoints& seen) { return seen.json.size(); }
size_t BytesOf(const HistoryUsage& usage) {
  constexpr size_t kReplicaBytes = 160;
  return usage.sample.replicas.size() * kReplicaBytes;
}
size_t BytesOf(const HistoryGone&) { return 0; }
// Of the entry itself: keys, list and map.
constexpr size_t kEntryBytes = 256;

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); !what.empty() && at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

}  // namespace

struct HistoryStore::Disk {
  std::unique_ptr<HistoryTables> tables;  // Null: no file is open.
};

struct HistoryStore::OpenResult {
  absl::Status status;
  std::string set_aside;
  std::vector<HistoryOpen> jobs;
};

HistoryStore::HistoryStore(Executor& executor, Executor& disk, Options options)
    : executor_(executor),
      disk_executor_(disk),
      options_(std::move(options)),
      disk_(std::make_shared<Disk>()) {}

HistoryStore::~HistoryStore() {
  for (const Executor::TimerId timer : {gather_timer_, open_timer_, trim_timer_}) {
    if (timer != 0) executor_.Cancel(timer);
  }
}

template <typename T>
void HistoryStore::OnDisk(std::function<T(Disk&)> work, std::function<void(T)> then) {
  disk_executor_.Post([disk = disk_, &executor = executor_, alive = std::weak_ptr<bool>(alive_),
                       work = std::move(work), then = std::move(then)] {
    auto result = std::make_shared<T>(work(*disk));
    executor.Post([alive, then, result] {
      if (alive.lock() != nullptr) then(std::move(*result));
    });
  });
}

void HistoryStore::Start(Opened opened) {
  opened_ = std::move(opened);
  Open(/*damaged=*/false);
}

void HistoryStore::Open(bool damaged) {
  opening_ = true;
  OnDisk<OpenResult>(
      [options = options_, damaged](Disk& disk) {
        OpenResult result;
        disk.tables.reset();
        if (damaged) {
          const auto place = SetHistoryFileAside(options.path);
          result.status = place.status();
          if (!place.ok()) return result;
          result.set_aside = "the file is now " + *place + ", and the history begins anew";
        }
        auto opened = OpenHistoryFile(options.path);
        result.status = opened.status();
        if (!opened.ok()) return result;
        if (!opened->set_aside.empty()) result.set_aside = opened->set_aside;
        auto tables = std::make_unique<HistoryTables>(std::move(opened->file), options.limits);
        auto jobs = tables->Open();
        result.status = jobs.status();
        if (!jobs.ok()) return result;
        result.jobs = *std::move(jobs);
        disk.tables = std::move(tables);
        return result;
      },
      [this, damaged](const OpenResult& result) { OnOpened(result, damaged); });
}

void HistoryStore::OpenLater(bool damaged) {
  open_timer_ = executor_.PostAfter(kRetry, [this, damaged] {
    open_timer_ = 0;
    Open(damaged);
  });
}

void HistoryStore::OnOpened(const OpenResult& result, bool damaged) {
  opening_ = false;
  if (!result.status.ok()) {
    const bool damage = absl::IsDataLoss(result.status);
    if (damage && !damaged) return Damaged(result.status);
    TroubleBegins(result.status);
    // A new file that is damaged already says that the disk is; it may be changed.
    return OpenLater(damage);
  }
  open_ = true;
  if (!result.set_aside.empty()) {
    Log(LogLevel::kError, "the history of jobs was damaged", {{"what", result.set_aside}});
  }
  TroubleEnds();
  opened_(result.jobs);
  Gather(kGather);
  if (trim_timer_ == 0) Trim();
}

// Both at opening and at any later read or write.
void HistoryStore::Damaged(const absl::Status& status) {
  if (std::exchange(opening_, true)) return;
  open_ = false;
  Log(LogLevel::kError, "the history of jobs is damaged and put aside",
      {{"error", std::string(status.message())}});
  Open(/*damaged=*/true);
}

void HistoryStore::Put(HistoryChange change) {
  // Each is a change of its own, for as long as the trouble lasts: what waits has no room for them
  // beside what cannot be read again.
  if (!trouble_.empty() && std::holds_alternative<HistoryUsage>(change)) {
    ++lost_;
    return;
  }
  Waiting waiting;
  waiting.key = std::visit([](const auto& one) { return KeyOf(one); }, change);
  waiting.bytes =
      kEntryBytes + 2 * waiting.key.size() +
      std::visit([](const auto& one) { return BytesOf(one); }, change);
  waiting.change = std::move(change);
  waiting_bytes_ += waiting.bytes;
  if (const auto same = by_key_.find(waiting.key); same != by_key_.end()) {
    waiting_bytes_ -= same->second->bytes;
    *same->second = std::move(waiting);
  } else {
    const std::string key = waiting.key;
    by_key_[key] = waiting_.insert(waiting_.end(), std::move(waiting));
  }
  while (waiting_bytes_ > kWaitingBytesMax) {
    Drop(waiting_.begin());
    ++lost_;
  }
  Gather(kGather);
}

void HistoryStore::Drop(std::list<Waiting>::iterator waiting) {
  waiting_bytes_ -= waiting->bytes;
  by_key_.erase(waiting->key);
  waiting_.erase(waiting);
}

void HistoryStore::Gather(Clock::Duration delay) {
  if (gather_timer_ != 0 || !open_) return;
  gather_timer_ = executor_.PostAfter(delay, [this] {
    gather_timer_ = 0;
    Flush();
  });
}

void HistoryStore::Flush() {
  if (!open_ || writing_ || waiting_.empty()) return;
  auto batch = std::make_shared<Batch>();
  while (batch->size() < kBatchMax && !waiting_.empty()) {
    batch->push_back(waiting_.front());
    Drop(waiting_.begin());
  }
  writing_ = true;
  OnDisk<absl::Status>(
      [batch](Disk& disk) {
        if (disk.tables == nullptr) return absl::UnavailableError("the file is not open");
        std::vector<HistoryChange> changes;
        for (const Waiting& waiting : *batch) changes.push_back(waiting.change);
        return disk.tables->Apply(changes);
      },
      [this, batch](const absl::Status& status) { OnWritten(status, batch); });
}

void HistoryStore::OnWritten(const absl::Status& status,
                             const std::shared_ptr<const Batch>& batch) {
  writing_ = false;
  if (status.ok()) {
    TroubleEnds();
    Trim();
    // What came meanwhile has waited long enough.
    if (!waiting_.empty()) Gather(Clock::Duration::zero());
    return;
  }
  if (absl::IsDataLoss(status)) {
    PutBack(*batch);
    return Damaged(status);
  }
  TroubleBegins(status);
  // What SQLite refuses for another reason than the disk it would refuse again.
  if (absl::IsUnavailable(status) || absl::IsFailedPrecondition(status)) {
    PutBack(*batch);
  } else {
    lost_ += batch->size();
  }
  // Not sooner, though more comes.
  if (gather_timer_ != 0) executor_.Cancel(std::exchange(gather_timer_, 0));
  Gather(kRetry);
}

void HistoryStore::PutBack(const Batch& batch) {
  for (auto waiting = batch.rbegin(); waiting != batch.rend(); ++waiting) {
    if (by_key_.count(waiting->key) > 0) continue;
    if (waiting_bytes_ + waiting->bytes > kWaitingBytesMax) {
      ++lost_;
      continue;
    }
    waiting_bytes_ += waiting->bytes;
    by_key_[waiting->key] = waiting_.insert(waiting_.begin(), *waiting);
  }
}

// A step at a time, each a task of its own, so that reads and writes come between.
void HistoryStore::Trim() {
  if (!open_ || std::exchange(trimming_, true)) return;
  if (trim_timer_ != 0) executor_.Cancel(std::exchange(trim_timer_, 0));
  OnDisk<absl::StatusOr<bool>>(
      [now = executor_.clock().WallNow()](Disk& disk) -> absl::StatusOr<bool> {
        if (disk.tables == nullptr) return false;
        return disk.tables->Trim(now);
      },
      [this](const absl::StatusOr<bool>& more) {
        trimming_ = false;
        if (absl::IsDataLoss(more.status())) return Damaged(more.status());
        // A disk that is full may refuse this too; the next write tells.
        if (more.ok() && *more) return Trim();
        trim_timer_ = executor_.PostAfter(kTrimEvery, [this] {
          trim_timer_ = 0;
          Trim();
        });
      });
}

void HistoryStore::TroubleBegins(const absl::Status& status) {
  const std::string message(status.message());
  if (message == trouble_) return;
  if (trouble_.empty()) trouble_since_ = executor_.clock().WallNow();
  trouble_ = message;
  Log(LogLevel::kError,
      "the history of jobs is not being written, while the rest goes on; make room for it or name "
      "another file: it is tried again every half minute",
      {{"error", message}});
}

void HistoryStore::TroubleEnds() {
  if (trouble_.empty()) return;
  trouble_.clear();
  Log(LogLevel::kInfo, "the history of jobs is written again",
      {{"records lost", std::to_string(std::exchange(lost_, 0))}});
}

std::string HistoryStore::Trouble() const {
  if (trouble_.empty()) return "";
  return "the history is not being written since " + FormatRfc3339(trouble_since_) + ": " +
         Replaced(trouble_, options_.path, "file");
}

template <typename T>
void HistoryStore::Read(std::function<absl::StatusOr<T>(HistoryTables&)> read, Done<T> done) {
  if (reads_ >= kReadsMax) {
    executor_.Post([done = std::move(done)] {
      done(absl::ResourceExhaustedError("read the history: too many read it now; try again soon"));
    });
    return;
  }
  ++reads_;
  OnDisk<absl::StatusOr<T>>(
      [read = std::move(read)](Disk& disk) -> absl::StatusOr<T> {
        if (disk.tables == nullptr) return absl::UnavailableError("its file is not open");
        return read(*disk.tables);
      },
      [this, done = std::move(done)](absl::StatusOr<T> result) {
        --reads_;
        if (absl::IsDataLoss(result.status())) Damaged(result.status());
        if (result.ok()) return done(std::move(result));
        const std::string error(result.status().message());
        done(absl::UnavailableError("read the history: " +
                                    Replaced(trouble_.empty() ? error : trouble_, options_.path,
                                             "file")));
      });
}

void HistoryStore::Places(std::string ns, Done<std::vector<HistoryPlace>> done) {
  Read<std::vector<HistoryPlace>>(
      [ns = std::move(ns)](HistoryTables& tables) { return tables.Places(ns); }, std::move(done));
}

void HistoryStore::Page(HistoryQuery query, Done<HistoryPage> done) {
  Read<HistoryPage>(
      [query = std::move(query)](HistoryTables& tables) { return tables.Page(query); },
      std::move(done));
}

void HistoryStore::Locate(std::string uid, Done<std::optional<HistoryName>> done) {
  Read<std::optional<HistoryName>>(
      [uid = std::move(uid)](HistoryTables& tables) { return tables.Locate(uid); },
      std::move(done));
}

void HistoryStore::Checkpoints(std::string uid, Done<std::string> done) {
  Read<std::string>(
      [uid = std::move(uid)](HistoryTables& tables) { return tables.Checkpoints(uid); },
      std::move(done));
}

void HistoryStore::Curves(std::string uid, Done<std::string> done) {
  Read<std::string>(
      [uid = std::move(uid)](HistoryTables& tables) { return tables.Curves(uid); },
      std::move(done));
}

void HistoryStore::Usage(std::string uid, Done<std::string> done) {
  Read<std::string>(
      [uid = std::move(uid)](HistoryTables& tables) { return tables.Usage(uid); },
      std::move(done));
}

void HistoryStore::Load(std::string uid, HistoryParts parts,
                        Done<std::optional<HistoryRecord>> done) {
  Read<std::optional<HistoryRecord>>(
      [uid = std::move(uid), parts](HistoryTables& tables) { return tables.Load(uid, parts); },
      std::move(done));
}

void HistoryStore::Close(std::function<void()> closed) {
  auto rest = std::make_shared<std::list<Waiting>>(std::move(waiting_));
  waiting_.clear();
  by_key_.clear();
  waiting_bytes_ = 0;
  open_ = false;
  disk_executor_.Post([disk = disk_, rest, closed = std::move(closed)] {
    std::vector<HistoryChange> changes;
    for (Waiting& waiting : *rest) changes.push_back(std::move(waiting.change));
    if (disk->tables != nullptr && !changes.empty()) {
      const absl::Status written = disk->tables->Apply(changes);
      if (!written.ok()) {
        Log(LogLevel::kError, "the last changes of the history are lost",
            {{"error", std::string(written.message())}});
      }
    }
    disk->tables.reset();
    closed();
  });
}

}  // namespace taas::dashboard
