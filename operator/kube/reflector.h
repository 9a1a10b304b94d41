// Keeps a Store equal to what the API server has of one kind: LIST, then WATCH, then what goes
// wrong.
//
//   Listing ──page … page──▶ Watching ──end, refused, 429──▶ Watching from the last version
//      ▲                        │
//      └───── after a delay ────┘ 410, no event, one too long, versions that go backwards
//
// Every LIST is a quorum read (no resourceVersion) in pages: a list from an API server's cache may
// travel back in time after a restart (kubernetes#59848) and is never paged. A page that is too
// long is asked for again with half as many objects, down to one; one that is too long by itself is
// left out and said, and what was known of it stays.
//
// Ownership: transport, executor, random and store must outlive it; destroying it ends the watch
// and no call comes after. Threads: the executor's only. Errors: none reach the caller; failures
// are logged and tried again for ever, with a growing delay. An object that cannot be decoded is
// reported and skipped.
//
//   Reflector<Pod> reflector(transport, executor, random, pods, DecodePod,
//                            {.path = CollectionPath(Resource::kPods, ""), .label_selector = "a"});
//   reflector.Start();

#ifndef OPERATOR_KUBE_REFLECTOR_H_
#define OPERATOR_KUBE_REFLECTOR_H_

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/list_page.h"
#include "operator/kube/paging/page_size.h"
#include "operator/kube/retry_delay.h"
#include "operator/kube/store.h"
#include "operator/kube/transport.h"
#include "operator/kube/watch_reader.h"

namespace taas {

struct ReflectorOptions {
  std::string path;  // Of the collection, without query.
  std::string label_selector;
  std::string field_selector;
  // In protobuf where the server has it for this kind: it is shorter, and the server encodes an
  // event once for all who watch in it. `Decode` has to read both forms.
  bool protobuf = false;
  int page_size = 500;
  // The API server may not know this kind (its CRD is not installed): then there are no objects,
  // and it is looked for again soon, as a CRD that is being replaced is back soon, and ever more
  // rarely; the limit is how late one notices a CRD at most.
  bool may_be_absent = false;
  RetryDelay::Options absent_retry{.first = std::chrono::milliseconds(1'000),
                                   .limit = std::chrono::milliseconds(30'000)};
  // Doubled at each failure in a row, with jitter; a success that lasts `calm` sets it back. Jobs
  // wait for up to twice the limit after a long outage, and a server bears a request in that time.
  RetryDelay::Options retry{.first = std::chrono::milliseconds(800),
                            .limit = std::chrono::milliseconds(10'000)};
  std::chrono::seconds calm{120};
  std::chrono::seconds list_timeout{60};
  // Servers end a watch after 5 to 10 minutes; asking for less makes the end an ordinary one.
  std::chrono::seconds watch_time_min{275};
  std::chrono::seconds watch_time_spread{20};
  // Bookmarks come about once a minute. A connection that is silent for longer than two of them may
  // be dead; watching again from the last version costs one request.
  std::chrono::seconds idle_limit{150};
  // A watch that ends this soon without an event counts as a failure.
  std::chrono::seconds short_watch{1};
};

// For tests and metrics.
struct ReflectorCounts {
  uint64_t lists = 0;    // LISTs begun, not pages.
  uint64_t watches = 0;  // WATCHes begun.
  uint64_t events = 0;   // Of type ADDED, MODIFIED, DELETED.
  uint64_t skipped = 0;  // Objects that could not be decoded, events of unknown type.
};

namespace reflector_internal {

// Who an object is, out of its metadata; objects come in JSON or in protobuf.
struct Identity {
  std::string ns, name, version;
};
absl::StatusOr<Identity> IdentityOf(std::string_view object);

// What the state machine tells the typed part.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void BeginList() = 0;
  virtual absl::Status AddItem(std::string_view object) = 0;
  // An item that exists and is too long to be read: what was known of it stays.
  virtual void AddKnown(const std::string& ns, const std::string& name) = 0;
  // `restored`: the version is earlier than one seen before, so nothing known before counts.
  virtual void EndList(const std::string& version, bool restored) = 0;
  // What EndList did is done, and synced() says so.
  virtual void Synced() = 0;
  // Whether this state of the object is known: of our own writes from their replies.
  virtual bool Knows(const Identity& who) const = 0;
  virtual absl::Status Upsert(std::string_view object) = 0;
  virtual void Remove(const std::string& ns, const std::string& name,
                      const std::string& version) = 0;
  virtual void Seen(const std::string& version) = 0;
  virtual void Failed(const absl::Status& why) = 0;
};

// The state machine, for objects of any type.
class Core {
 public:
  Core(KubeTransport& transport, Executor& executor, Random& random, Sink& sink,
       ReflectorOptions options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void Start();
  void Stop();
  bool synced() const { return synced_; }
  const ReflectorCounts& counts() const { return counts_; }
  const std::string& version() const { return version_; }

 private:
  // What to do once the present watch is over.
  enum class Next { kRelist, kRewatch };
  struct WatchState;
  struct SkimState;

  void List();
  void AskPage(const std::string& continue_token);
  std::string PagePath(const std::string& continue_token, int limit) const;
  void OnPage(const std::string& continue_token, absl::StatusOr<HttpReply> reply);
  void NextPage(const std::string& continue_token, const ListPage& page);
  // Gets past the only object of a page that is too long.
  void SkimPage(const std::string& continue_token);
  void OnSkimmed(const std::string& continue_token, const absl::Status& status);
  void EndList(const std::string& version);
  void Sync(const std::string& version, bool restored);
  void OnAbsent();
  void Watch();
  void OnChunk(std::string_view chunk);
  absl::Status OnEvent(const WatchEvent& event);
  absl::Status OnErrorEvent(std::string_view object);
  absl::Status OnObject(bool deleted, std::string_view object);
  absl::Status Advance(const std::string& version);
  void OnEnded(const absl::Status& status);
  void OnRefused();
  // Goes on with `next` after the delay that follows from the failures in a row.
  void Later(Next next, const absl::Status& why,
             std::chrono::seconds at_least = std::chrono::seconds(0));
  void Skip(const char* what, const absl::Status& why);
  // `call`, unless Stop or a change of state came first.
  template <typename F>
  auto Guarded(F call);

  KubeTransport& transport_;
  Executor& executor_;
  Random& random_;
  Sink& sink_;
  const ReflectorOptions options_;
  const RetryDelay retry_;
  const RetryDelay absent_retry_;

  // Calls that were started in an earlier round come too late.
  std::shared_ptr<uint64_t> round_ = std::make_shared<uint64_t>(0);
  Executor::TimerId timer_ = 0;
  std::unique_ptr<KubeTransport::StreamHandle> stream_;
  std::unique_ptr<WatchState> watch_;
  std::unique_ptr<SkimState> skim_;
  PageSize page_size_;

  std::string version_;  // Of the last list, event or bookmark.
  bool synced_ = false;  // Only once the sink holds the whole first list.
  uint32_t absences_ = 0;  // Looks in a row that did not find the kind.
  uint32_t failures_ = 0;
  Clock::Time last_failure_{};
  uint32_t internal_errors_ = 0;  // ERROR events with code 500 in a row.
  ReflectorCounts counts_;
};

}  // namespace reflector_internal

// T has a member `meta` of type ObjectMeta.
template <typename T>
class Reflector : private reflector_internal::Sink {
 public:
  using Decode = std::function<absl::StatusOr<T>(std::string_view object)>;
  // An object that `Decode` refused: its raw text and why. Optional.
  using OnUndecodable = std::function<void(std::string_view object, const absl::Status& why)>;

  Reflector(KubeTransport& transport, Executor& executor, Random& random, Store<T>& store,
            Decode decode, ReflectorOptions options)
      : store_(store),
        decode_(std::move(decode)),
        core_(transport, executor, random, *this, std::move(options)) {}

  void set_on_undecodable(OnUndecodable call) { on_undecodable_ = std::move(call); }
  // Called each time a list has replaced the store's content.
  void set_on_synced(std::function<void()> call) { on_synced_ = std::move(call); }

  // Called at each failure that a list or a watch is begun again for.
  void set_on_failure(std::function<void(const absl::Status& why)> call) {
    on_failure_ = std::move(call);
  }

  void Start() { core_.Start(); }
  void Stop() { core_.Stop(); }
  // True once the store holds the whole first list, or the kind was found to be absent: what the
  // store does not have then is not there. While that list is put into the store, object by object,
  // it is false, also for whoever asks in a call of the store's on_change.
  bool synced() const { return core_.synced(); }
  const ReflectorCounts& counts() const { return core_.counts(); }

 private:
  void BeginList() override { listed_.clear(); }
  absl::Status AddItem(std::string_view raw) override {
    absl::StatusOr<T> object = Read(raw);
    if (object.ok()) {
      listed_.push_back(*std::move(object));
      return absl::OkStatus();
    }
    // It exists: its last good state stays, or we would take it for deleted.
    const absl::StatusOr<reflector_internal::Identity> who = reflector_internal::IdentityOf(raw);
    const auto known = who.ok() ? store_.Find(who->ns, who->name) : nullptr;
    if (known != nullptr) listed_.push_back(*known);
    return Refused(raw, object.status());
  }
  void AddKnown(const std::string& ns, const std::string& name) override {
    const auto known = store_.Find(ns, name);
    if (known != nullptr) listed_.push_back(*known);
  }
  void EndList(const std::string& version, bool restored) override {
    store_.Replace(std::move(listed_), version, !restored);
    listed_.clear();
  }
  void Synced() override {
    if (on_synced_) on_synced_();
  }
  bool Knows(const reflector_internal::Identity& who) const override {
    const auto known = store_.Find(who.ns, who.name);
    return known != nullptr && known->meta.resource_version == who.version;
  }
  absl::Status Upsert(std::string_view raw) override {
    absl::StatusOr<T> object = Read(raw);
    if (!object.ok()) return Refused(raw, object.status());
    store_.Apply(*std::move(object));
    return absl::OkStatus();
  }
  void Remove(const std::string& ns, const std::string& name, const std::string& version) override {
    store_.Remove(ns, name, version);
  }
  void Seen(const std::string& version) override { store_.Seen(version); }
  // Objects are whatever somebody stored: none of them ends the process.
  absl::StatusOr<T> Read(std::string_view raw) const {
    try {
      return decode_(raw);
    } catch (const std::exception& error) {
      return absl::InternalError(std::string("the object cannot be decoded: ") + error.what());
    }
  }
  void Failed(const absl::Status& why) override {
    if (on_failure_) on_failure_(why);
  }
  absl::Status Refused(std::string_view raw, const absl::Status& why) {
    if (on_undecodable_) on_undecodable_(raw, why);
    return why;
  }

  Store<T>& store_;
  const Decode decode_;
  OnUndecodable on_undecodable_;
  std::function<void()> on_synced_;
  std::function<void(const absl::Status& why)> on_failure_;
  std::vector<T> listed_;
  reflector_internal::Core core_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_REFLECTOR_H_
