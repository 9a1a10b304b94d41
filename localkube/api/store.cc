#include "localkube/api/store.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <thread>
#include <utility>

#include "localkube/api/database.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

// Writes in one transaction: enough to share a disk's flush among all threads of the server.
constexpr size_t kBatchMax = 64;
// Events copied for one watch per lock, so that writers never wait long for a slow watch.
constexpr size_t kDeliverMax = 128;

std::string Describe(const StoreKey& key) {
  return key.resource + " " + (key.ns.empty() ? "" : key.ns + "/") + key.name;
}

bool Matches(const StoreKey& key, const std::string& resource, const std::string& ns) {
  return (resource.empty() || key.resource == resource) && (ns.empty() || key.ns == ns);
}

struct Value {
  uint64_t revision = 0;
  StoreText text;
};

class SqliteStore : public Store {
 public:
  SqliteStore(Options options, std::unique_ptr<Database> database)
      : options_(std::move(options)), database_(std::move(database)) {}
  ~SqliteStore() override;

  absl::Status Load();

  absl::StatusOr<StoreEntry> Commit(Write write) override;
  absl::StatusOr<StoreEntry> Get(const StoreKey& key) const override;
  absl::StatusOr<ListResult> List(const ListQuery& query) const override;
  absl::StatusOr<std::unique_ptr<StoreWatch>> Watch(WatchQuery query, OnEvent callback) override;
  uint64_t revision() const override {
    std::shared_lock lock(state_mutex_);
    return revision_;
  }

 private:
  struct Pending {
    Write write;
    absl::StatusOr<StoreEntry> result = absl::UnknownError("not committed");
    bool done = false;
  };

  struct Watcher {
    WatchQuery query;
    OnEvent callback;
    uint64_t next_revision = 0;
    // Delivered before what next_revision says, the dispatcher's alone once the watch has begun:
    // what existed at the start, and events that were taken and not wanted yet.
    std::deque<StoreEvent> due;
    bool bookmark_wanted = false;    // Under dispatch_mutex_, like `removed`.
    bool removed = false;
    bool ended = false;  // Fell behind; the dispatcher's alone.
  };

  class Handle : public StoreWatch {
   public:
    Handle(SqliteStore* store, std::shared_ptr<Watcher> watcher)
        : store_(store), watcher_(std::move(watcher)) {}
    ~Handle() override { store_->Remove(watcher_); }
    void RequestBookmark() override {
      std::lock_guard lock(store_->dispatch_mutex_);
      watcher_->bookmark_wanted = true;
      Wake();
    }
    void Resume() override {
      std::lock_guard lock(store_->dispatch_mutex_);
      Wake();
    }

   private:
    void Wake() {
      store_->work_waits_ = true;
      store_->dispatch_wake_.notify_all();
    }

    SqliteStore* const store_;
    const std::shared_ptr<Watcher> watcher_;
  };

  using Batch = std::span<Pending* const>;
  // What a batch of writes becomes; `events` and `rows` have one entry each per write that is good.
  struct Staged {
    std::vector<StoreEvent> events;
    std::vector<Database::Row> rows;
  };

  void CommitBatch(Batch batch) noexcept;
  Staged Stage(Batch batch);
  absl::Status Check(const Write& write, const std::map<StoreKey, Value>& overlay,
                     Value* before) const;
  // What is on the disk must be in memory: a process that has no room for it starts again from the
  // disk, rather than to answer what is not true.
  void Publish(std::vector<StoreEvent> events) noexcept;
  void TrimHistory();

  void Dispatch();
  void Deliver(Watcher* watcher);
  bool DeliverDue(Watcher* watcher);
  enum class Called { kTaken, kNotReady, kRemoved };
  Called Call(Watcher* watcher, const StoreEvent& event);
  static Called CallNow(Watcher* watcher, const StoreEvent& event);
  void TakeEvents(Watcher* watcher);
  void EndIfLate(Watcher* watcher);
  void Remove(const std::shared_ptr<Watcher>& watcher);

  const Options options_;
  const std::unique_ptr<Database> database_;  // Used by the thread that leads the batch only.

  std::mutex commit_mutex_;
  std::condition_variable committed_;
  std::deque<Pending*> waiting_;
  bool committing_ = false;

  mutable std::shared_mutex state_mutex_;
  std::map<StoreKey, Value> state_;
  uint64_t revision_ = 0;
  uint64_t compacted_ = 0;           // Events up to here are gone.
  std::deque<StoreEvent> history_;  // Revisions compacted_ + 1 to revision_, one each.
  size_t history_bytes_ = 0;

  std::mutex dispatch_mutex_;
  std::condition_variable dispatch_wake_;
  std::condition_variable call_ended_;
  std::vector<std::shared_ptr<Watcher>> watchers_;
  const Watcher* running_ = nullptr;  // Whose callback runs now.
  bool work_waits_ = false;
  bool stopping_ = false;
  std::thread dispatcher_;
};

SqliteStore::~SqliteStore() {
  {
    std::lock_guard lock(dispatch_mutex_);
    stopping_ = true;
    dispatch_wake_.notify_all();
  }
  if (dispatcher_.joinable()) dispatcher_.join();
}

absl::Status SqliteStore::Load() {
  ASSIGN_OR_RETURN(revision_, database_->Load([this](Database::Row row) {
    state_[std::move(row.key)] = {row.revision, std::move(row.text)};
  }));
  compacted_ = revision_;
  dispatcher_ = std::thread([this] { Dispatch(); });
  return absl::OkStatus();
}

// The first of the waiting threads commits for all that wait; the others sleep until it is done.
// Between taking the lead and giving it back nothing may throw: whoever waits would do so for ever.
absl::StatusOr<StoreEntry> SqliteStore::Commit(Write write) {
  Pending mine{.write = std::move(write)};
  std::unique_lock lock(commit_mutex_);
  waiting_.push_back(&mine);
  while (!mine.done) {
    if (committing_) {
      committed_.wait(lock);
      continue;
    }
    committing_ = true;
    std::array<Pending*, kBatchMax> places;
    const size_t count = std::min(waiting_.size(), kBatchMax);
    std::copy_n(waiting_.begin(), count, places.begin());
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    const Batch batch(places.data(), count);
    lock.unlock();
    CommitBatch(batch);
    lock.lock();
    committing_ = false;
    for (Pending* pending : batch) pending->done = true;
    committed_.notify_all();
  }
  return std::move(mine.result);
}

absl::Status SqliteStore::Check(const Write& write, const std::map<StoreKey, Value>& overlay,
                                Value* before) const {
  if (const auto found = overlay.find(write.key); found != overlay.end()) {
    *before = found->second;
  } else if (const auto stored = state_.find(write.key); stored != state_.end()) {
    *before = stored->second;
  }
  const bool exists = before->text != nullptr;
  if (exists && write.expected_revision == 0) {
    return absl::AlreadyExistsError(Describe(write.key) + " already exists");
  }
  if (!exists && write.expected_revision != 0) {
    return absl::NotFoundError(Describe(write.key) + " not found");
  }
  if (exists && before->revision != write.expected_revision) {
    return absl::AbortedError(Describe(write.key) + " has revision " +
                              std::to_string(before->revision) + ", expected " +
                              std::to_string(write.expected_revision));
  }
  return absl::OkStatus();
}

// Only one thread at a time is here, and only it changes state_: reading it needs no lock.
SqliteStore::Staged SqliteStore::Stage(Batch batch) {
  std::map<StoreKey, Value> overlay;
  Staged staged;
  for (Pending* pending : batch) {
    const Write& write = pending->write;
    Value before;
    if (absl::Status status = Check(write, overlay, &before); !status.ok()) {
      pending->result = std::move(status);
      continue;
    }
    const uint64_t revision = revision_ + staged.events.size() + 1;
    StoreText text;
    try {
      std::string rendered = write.render(revision);
      // It grew as it was written, to twice its length at worst, and is kept for long.
      rendered.shrink_to_fit();
      text = std::make_shared<const std::string>(std::move(rendered));
    } catch (const std::exception& error) {
      // This write's own failure; the others of the batch go on.
      pending->result = absl::InternalError("write " + Describe(write.key) + ": " + error.what());
      continue;
    }
    overlay[write.key] = {revision, write.remove ? nullptr : text};
    staged.rows.push_back({write.key, revision, write.remove ? nullptr : text});
    const StoreEventType type = write.remove             ? StoreEventType::kDeleted
                                : before.text == nullptr ? StoreEventType::kAdded
                                                         : StoreEventType::kModified;
    staged.events.push_back({type, revision, write.key, text, before.text});
    pending->result = StoreEntry{write.key, revision, text};
  }
  return staged;
}

void SqliteStore::CommitBatch(Batch batch) noexcept {
  absl::Status status;
  Staged staged;
  try {
    staged = Stage(batch);
    if (staged.events.empty()) return;
    status = database_->Apply(staged.rows, staged.events.back().revision);
  } catch (const std::exception& error) {
    status = absl::ResourceExhaustedError(std::string("write to the store: ") + error.what());
  }
  if (status.ok()) {
    Publish(std::move(staged.events));
    return;
  }
  for (Pending* pending : batch) {
    if (pending->result.ok()) pending->result = status;
  }
}

void SqliteStore::Publish(std::vector<StoreEvent> events) noexcept {
  {
    std::unique_lock lock(state_mutex_);
    for (StoreEvent& event : events) {
      if (event.type == StoreEventType::kDeleted) {
        state_.erase(event.key);
      } else {
        state_[event.key] = {event.revision, event.text};
      }
      revision_ = event.revision;
      history_bytes_ += event.text->size();
      history_.push_back(std::move(event));
    }
    TrimHistory();
  }
  std::lock_guard lock(dispatch_mutex_);
  work_waits_ = true;
  dispatch_wake_.notify_all();
}

void SqliteStore::TrimHistory() {
  while (!history_.empty() && (history_.size() > options_.history_events_max ||
                               history_bytes_ > options_.history_bytes_max)) {
    history_bytes_ -= history_.front().text->size();
    compacted_ = history_.front().revision;
    history_.pop_front();
  }
}

absl::StatusOr<StoreEntry> SqliteStore::Get(const StoreKey& key) const {
  std::shared_lock lock(state_mutex_);
  const auto found = state_.find(key);
  if (found == state_.end()) return absl::NotFoundError(Describe(key) + " not found");
  return StoreEntry{key, found->second.revision, found->second.text};
}

absl::StatusOr<Store::ListResult> SqliteStore::List(const ListQuery& query) const {
  std::shared_lock lock(state_mutex_);
  ListResult result;
  result.revision = query.at_revision.value_or(revision_);
  if (result.revision > revision_ || result.revision < compacted_) {
    return absl::OutOfRangeError("list " + query.resource + " at revision " +
                                 std::to_string(result.revision) + ": the store has " +
                                 std::to_string(compacted_) + " to " + std::to_string(revision_));
  }
  // What has changed since: the oldest of the later events knows the state before it.
  std::map<StoreKey, Value> undone;
  for (auto event = history_.rbegin();
       event != history_.rend() && event->revision > result.revision; ++event) {
    if (Matches(event->key, query.resource, query.ns)) undone[event->key] = {0, event->previous};
  }
  const StoreKey first = query.after.value_or(StoreKey{query.resource, query.ns, ""});
  std::map<StoreKey, Value> then;  // Only filled when the past is asked for.
  const std::map<StoreKey, Value>* source = &state_;
  if (!undone.empty()) {
    then.insert(state_.lower_bound(first), state_.end());
    for (auto& [key, value] : undone) {
      if (value.text == nullptr) {
        then.erase(key);
      } else {
        then[key] = value;
      }
    }
    source = &then;
  }
  for (auto it = query.after ? source->upper_bound(first) : source->lower_bound(first);
       it != source->end(); ++it) {
    if (!query.resource.empty() && it->first.resource != query.resource) break;
    if (!query.ns.empty() && it->first.ns != query.ns) {
      if (!query.resource.empty()) break;
      continue;
    }
    if (query.limit != 0 && result.entries.size() == query.limit) {
      ++result.remaining;
      continue;
    }
    result.entries.push_back({it->first, it->second.revision, it->second.text});
  }
  return result;
}

absl::StatusOr<std::unique_ptr<StoreWatch>> SqliteStore::Watch(WatchQuery query,
                                                               OnEvent callback) {
  auto watcher = std::make_shared<Watcher>();
  watcher->callback = std::move(callback);
  {
    std::shared_lock lock(state_mutex_);
    if (query.after_revision.has_value()) {
      if (*query.after_revision > revision_ || *query.after_revision < compacted_) {
        return absl::OutOfRangeError("watch from revision " +
                                     std::to_string(*query.after_revision) + ": the store has " +
                                     std::to_string(compacted_) + " to " +
                                     std::to_string(revision_));
      }
      watcher->next_revision = *query.after_revision + 1;
    } else {
      for (const auto& [key, value] : state_) {
        if (!Matches(key, query.resource, query.ns)) continue;
        watcher->due.push_back(
            {StoreEventType::kAdded, value.revision, key, value.text, nullptr});
      }
      watcher->due.push_back({StoreEventType::kInitialEnd, revision_, {}, nullptr, nullptr});
      watcher->next_revision = revision_ + 1;
    }
  }
  watcher->query = std::move(query);
  std::lock_guard lock(dispatch_mutex_);
  watchers_.push_back(watcher);
  work_waits_ = true;
  dispatch_wake_.notify_all();
  return std::unique_ptr<StoreWatch>(std::make_unique<Handle>(this, watcher));
}

void SqliteStore::Remove(const std::shared_ptr<Watcher>& watcher) {
  // What they hold goes with the watch, though the dispatcher may keep the watcher a little longer:
  // its owner goes next. They end without the lock, since they may hold anything.
  OnEvent callback;
  std::function<bool()> ready;
  std::unique_lock lock(dispatch_mutex_);
  watcher->removed = true;
  std::erase(watchers_, watcher);
  const auto idle = [&] { return running_ != watcher.get(); };
  if (std::this_thread::get_id() != dispatcher_.get_id()) {
    call_ended_.wait(lock, idle);
  } else if (!idle()) {
    return;
  }
  callback.swap(watcher->callback);
  ready.swap(watcher->query.ready);
}

void SqliteStore::Dispatch() {
  std::unique_lock lock(dispatch_mutex_);
  while (true) {
    dispatch_wake_.wait(lock, [this] { return work_waits_ || stopping_; });
    if (stopping_) return;
    work_waits_ = false;
    const std::vector<std::shared_ptr<Watcher>> watchers = watchers_;
    lock.unlock();
    for (const auto& watcher : watchers) Deliver(watcher.get());
    lock.lock();
  }
}

// A callback reads what anybody may have stored: one that throws must not end the process.
SqliteStore::Called SqliteStore::CallNow(Watcher* watcher, const StoreEvent& event) {
  try {
    if (watcher->query.ready != nullptr && !watcher->query.ready()) return Called::kNotReady;
    watcher->callback(event);
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "a watch could not take an event; it goes on with the next",
        {{"object", Describe(event.key)},
         {"revision", std::to_string(event.revision)},
         {"cause", error.what()}});
  }
  return Called::kTaken;
}

// Runs the callback unless the watch was removed or is not ready; no call runs on when Remove has
// returned.
SqliteStore::Called SqliteStore::Call(Watcher* watcher, const StoreEvent& event) {
  {
    std::lock_guard lock(dispatch_mutex_);
    if (watcher->removed || stopping_) return Called::kRemoved;
    running_ = watcher;
  }
  const Called called = CallNow(watcher, event);
  std::lock_guard lock(dispatch_mutex_);
  running_ = nullptr;
  call_ended_.notify_all();
  return called;
}

// The next events for the watch, behind those that are due.
void SqliteStore::TakeEvents(Watcher* watcher) {
  std::shared_lock lock(state_mutex_);
  if (watcher->next_revision <= compacted_) {
    watcher->ended = true;
    watcher->due.push_back({StoreEventType::kGone, revision_, {}, nullptr, nullptr});
    return;
  }
  while (watcher->next_revision <= revision_ && watcher->due.size() < kDeliverMax) {
    const StoreEvent& event = history_[watcher->next_revision - compacted_ - 1];
    if (Matches(event.key, watcher->query.resource, watcher->query.ns)) {
      watcher->due.push_back(event);
    }
    ++watcher->next_revision;
  }
}

// A watch that waits while the history moves past it cannot go on afterwards: it is told so at
// once, and keeps no longer in memory what existed when it began.
void SqliteStore::EndIfLate(Watcher* watcher) {
  std::shared_lock lock(state_mutex_);
  if (watcher->ended || watcher->next_revision > compacted_) return;
  watcher->ended = true;
  watcher->due = {{StoreEventType::kGone, revision_, {}, nullptr, nullptr}};
}

// True when all that was due was delivered.
bool SqliteStore::DeliverDue(Watcher* watcher) {
  while (!watcher->due.empty()) {
    const Called called = Call(watcher, watcher->due.front());
    if (called == Called::kNotReady) EndIfLate(watcher);
    if (called != Called::kTaken) return false;
    watcher->due.pop_front();
  }
  return true;
}

void SqliteStore::Deliver(Watcher* watcher) {
  while (DeliverDue(watcher) && !watcher->ended) {
    // Asked for before the events are taken, so that it stands behind all that came before it.
    bool bookmark = false;
    {
      std::lock_guard lock(dispatch_mutex_);
      std::swap(bookmark, watcher->bookmark_wanted);
    }
    TakeEvents(watcher);
    if (watcher->due.empty() && !bookmark) return;
    if (bookmark && !watcher->ended) {
      watcher->due.push_back(
          {StoreEventType::kBookmark, watcher->next_revision - 1, {}, nullptr, {}});
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Store::Open(Options options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(options.path));
  auto store = std::make_unique<SqliteStore>(std::move(options), std::move(database));
  RETURN_IF_ERROR(store->Load());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace taas::localkube
