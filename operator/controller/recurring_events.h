// When a warning about a job that comes again and again, or stands for long, is told: at once, then
// together with what came meanwhile, more and more rarely.
//
// An event is a write, and a cause such as a pod that crashes, or a queue that is full, lasts for
// hours in thousands of jobs. So of one job and cause there is at most one event in 30 s, which
// says how often it happened; and one that stands is told anew before the API server forgets it.
//
// Ownership: value type. Threads: the executor's only. Errors: none. It may be lost: then what
// stands is told once more.
//
//   recurring.Stands(plan.hindrances);
//   for (const RecurringEvents::Due& due : recurring.Take(clock)) events.Write(job, due);

#ifndef OPERATOR_CONTROLLER_RECURRING_EVENTS_H_
#define OPERATOR_CONTROLLER_RECURRING_EVENTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/plan/message.h"

namespace taas {

class RecurringEvents {
 public:
  struct Due {
    std::string reason;
    std::string message;
    int times = 1;
    Clock::WallTime since{};  // Of the first of them.
  };

  // Once more, at this moment.
  void Happens(const std::string& cause, const std::string& reason, const std::string& message,
               Clock::WallTime now);
  // Once more, and no news until it could be forgotten, however it is worded: some servers word
  // each refusal anew.
  void Repeats(const std::string& cause, const std::string& reason, const std::string& message,
               Clock::Time now, Clock::WallTime wall);
  // All that stands in the way now. What is gone before it was told is told no more.
  void Stand(const std::vector<Hindrance>& hindrances, Clock::WallTime now);

  // Those whose time has come; they count as told.
  std::vector<Due> Take(Clock::Time now);
  // When there is something to take, if nothing changes.
  std::optional<Clock::Duration> NextAfter(Clock::Time now) const;

 private:
  struct Entry {
    Due event;
    bool stands = false;
    bool is_news = false;
    std::optional<Clock::Time> told;
    Clock::Duration spacing{};
  };

  // Null: there are too many causes already.
  Entry* EntryOf(const std::string& cause, Clock::WallTime now);
  static std::optional<Clock::Time> TimeOf(const Entry& entry);

  std::map<std::string, Entry> entries_;  // By cause.
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_RECURRING_EVENTS_H_
