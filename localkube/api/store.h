// The objects of the local cluster: every acknowledged write survives kill -9 and a power cut.
//
// A map from (resource, namespace, name) to JSON text with one global revision, kept whole in
// memory and
// written through to SQLite (WAL, synchronous=FULL). Concurrent writes share one transaction.
// Watches
// replay a bounded history and then follow; they are ordered, unique, reliable, resumable and can
// be
// bookmarked. The store knows nothing about the content of an object.
//
// Ownership: owns its database and one thread; handles must be destroyed before it.
// Threads: all methods from any thread; callbacks on the store's own thread, one at a time,
// without locks.
// Errors: NotFound, AlreadyExists, Aborted (another revision than expected), OutOfRange (revision
// compacted
// or still to come), Unavailable (the disk).
//
//   ASSIGN_OR_RETURN(auto store, Store::Open({.path = dir + "/store.db"}));
//   store->Commit({.key = {"pods", "ns", "a"},
//                  .render = [&](uint64_t revision) { return Text(revision); }});
//   auto watch = store->Watch({.resource = "pods"}, [](const StoreEvent& event) { … });

#ifndef LOCALKUBE_API_STORE_H_
#define LOCALKUBE_API_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas::localkube {

struct StoreKey {
  std::string resource;  // "pods", "trainingjobs.taas.dev": plural, then the group if it has one.
  std::string ns;        // Empty for resources of the cluster.
  std::string name;

  auto operator<=>(const StoreKey&) const = default;
};

using StoreText = std::shared_ptr<const std::string>;

struct StoreEntry {
  StoreKey key;
  uint64_t revision = 0;
  StoreText text;
};

enum class StoreEventType {
  kAdded,
  kModified,
  kDeleted,
  kInitialEnd,  // All that existed at the start of the watch was delivered.
  kBookmark,    // Everything up to `revision` was delivered.
  kGone,        // The watch fell behind the history and has ended; list again.
};

struct StoreEvent {
  StoreEventType type = StoreEventType::kAdded;
  uint64_t revision = 0;
  StoreKey key;
  StoreText text;      // Deleted: the last state, carrying the revision of the deletion.
  StoreText previous;  // Null for an addition.
};

class StoreWatch {
 public:
  // Ends the watch. No callback runs after the destructor returned, and nothing is left of what it
  // holds, unless the destructor is called from it.
  virtual ~StoreWatch() = default;
  // The callback gets kBookmark after all events that come before it.
  virtual void RequestBookmark() = 0;
  // After `ready` said no: asks it again.
  virtual void Resume() = 0;
};

class Store {
 public:
  struct Options {
    std::string path;  // ":memory:" keeps nothing.
    // Events kept for watches that resume: at most so many, and at most so many bytes of objects.
    size_t history_events_max = 2'048;
    size_t history_bytes_max = 8 << 20;
  };

  struct Write {
    StoreKey key;
    // The revision that the entry must have now; 0: it must not exist.
    uint64_t expected_revision = 0;
    bool remove = false;
    // Makes the text for the revision that the write gets; for a removal, the text of the last
    // event.
    std::function<std::string(uint64_t revision)> render;
  };

  struct ListQuery {
    std::string resource;            // Empty: all.
    std::string ns;                  // Empty: all.
    // As it was then; OutOfRange if compacted or not yet reached.
    std::optional<uint64_t> at_revision;
    std::optional<StoreKey> after;   // Only keys greater than this.
    size_t limit = 0;                // 0: all.
  };
  struct ListResult {
    uint64_t revision = 0;
    std::vector<StoreEntry> entries;  // In the order of their keys.
    size_t remaining = 0;             // How many more there are behind the limit.
  };

  struct WatchQuery {
    std::string resource;  // Empty: all.
    std::string ns;        // Empty: all.
    // Events after this revision. Unset: first everything that exists as kAdded, then kInitialEnd.
    std::optional<uint64_t> after_revision;
    // Asked before each event; null: always. False: the event waits until Resume, in the history if
    // it is no initial one: a watch that the history has passed is gone. As quick as the callback.
    std::function<bool()> ready;
  };
  using OnEvent = std::function<void(const StoreEvent&)>;

  static absl::StatusOr<std::unique_ptr<Store>> Open(Options options);
  virtual ~Store() = default;

  // Returns when the write is on disk. A removal returns the entry with the text of its last event.
  virtual absl::StatusOr<StoreEntry> Commit(Write write) = 0;
  virtual absl::StatusOr<StoreEntry> Get(const StoreKey& key) const = 0;
  virtual absl::StatusOr<ListResult> List(const ListQuery& query) const = 0;
  // The callback must be quick: all watches share one thread. OutOfRange: see `after_revision`.
  virtual absl::StatusOr<std::unique_ptr<StoreWatch>> Watch(WatchQuery query, OnEvent callback) = 0;
  virtual uint64_t revision() const = 0;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_STORE_H_
