// What the clients of streams have not taken yet: a bound for each stream, and one for all of them.
//
// A client that stops reading must not fill the memory, and neither must a thousand of them. A text
// that many streams wait to send is in the memory once and counts once. Where all of them together
// are too much, the stream that is most behind ends, not the one that happens to write.
//
// Ownership: values. Threads: any. Errors: Add is false when the stream is over; whoever opened it
// hears that by `close`, which is called once at most and not under a lock.
//
//   const uint64_t stream = budget.Open([] { … });
//   if (budget.Add(stream, text)) Send(text);  // and then
//   budget.Sent(stream, 1);

#ifndef DASHBOARD_HTTP_UNSENT_BUDGET_H_
#define DASHBOARD_HTTP_UNSENT_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dashboard/http/web_message.h"

namespace taas::dashboard {

class UnsentBudget {
 public:
  using Close = std::function<void()>;
  struct Limits {
    size_t of_one = 0;
    size_t of_all = 0;
  };

  explicit UnsentBudget(Limits limits) : limits_(limits) {}

  uint64_t Open(Close close);
  bool Add(uint64_t stream, const SharedText& text);
  // Its first so many texts went out.
  void Sent(uint64_t stream, size_t texts);
  // Forgets what it has not sent. Idempotent; `close` is not called any more.
  void End(uint64_t stream);

  size_t unsent(uint64_t stream) const;
  size_t unsent_of_all() const;

 private:
  struct Stream {
    Close close;
    std::deque<SharedText> texts;
    size_t bytes = 0;
  };
  using Streams = std::map<uint64_t, Stream>;

  void Release(const SharedText& text);
  Close Take(Streams::iterator stream);

  const Limits limits_;
  mutable std::mutex mutex_;
  uint64_t next_ = 1;
  Streams streams_;
  std::unordered_map<const std::string*, size_t> waiting_;  // How many streams' each text is.
  size_t bytes_ = 0;                                        // Of all texts.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_UNSENT_BUDGET_H_
