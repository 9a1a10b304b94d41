// What streams hold back for clients that read slowly, and how much that may be.
//
// Each stream has an account. A stream that can wait asks IsReady before it gives more, and is told
// to go on once its client has taken what there was. What all streams hold together has a bound,
// too: beyond it the one whose client has taken nothing for longest is closed, so that clients that
// read never pay for one that does not.
//
// Ownership: the budget outlives its accounts. Threads: any. Errors: none.
//
//   auto account = budget.Open([session] { session->Close(); });
//   if (!account->Add(chunk.size())) …  // Closed: it holds too much.
//   if (account->Take(sent)) stream->Resume();

#ifndef LOCALKUBE_API_SERVE_STREAM_BUDGET_H_
#define LOCALKUBE_API_SERVE_STREAM_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

namespace taas::localkube {

class StreamBudget {
 public:
  struct Limits {
    // A stream that can wait gives no more while this waits for its client: enough that a client
    // that reads never waits for the store.
    size_t wait_above = 1 << 20;
    // A stream that cannot wait is closed beyond it, and its client comes again.
    size_t stream_max = 16 << 20;
    // Of all streams: a thousand clients that do not read cost no more than this.
    size_t all_max = 64 << 20;
  };

  class Account;

  explicit StreamBudget(Limits limits) : limits_(limits) {}

  // `close` must be quick and must not call the budget; it comes once at most.
  std::unique_ptr<Account> Open(std::function<void()> close);
  size_t held_bytes() const;

 private:
  // The stream that has waited for its client longest; null: none holds anything.
  Account* Stalest() const;

  const Limits limits_;
  mutable std::mutex mutex_;
  std::set<Account*> accounts_;
  size_t held_ = 0;
  uint64_t now_ = 0;  // Counts what clients take: the order of it is all that is needed.
};

// One stream's part.
class StreamBudget::Account {
 public:
  ~Account();
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // False while the client has much to take; Take() then says when it has.
  bool IsReady();
  // `bytes` wait for the client from now on. Closes streams that are in the way, maybe this one;
  // false: this one is closed.
  bool Add(size_t bytes);
  // The client has taken `bytes`. True: IsReady had said no and would say yes now.
  bool Take(size_t bytes);

 private:
  friend class StreamBudget;
  Account(StreamBudget* budget, std::function<void()> close)
      : budget_(budget), close_(std::move(close)) {}
  void CloseNow();  // Under the budget's mutex.

  StreamBudget* const budget_;
  std::function<void()> close_;  // Null once it was called.
  size_t held_ = 0;
  uint64_t taken_at_ = 0;
  bool asked_ = false;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_SERVE_STREAM_BUDGET_H_
