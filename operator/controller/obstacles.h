// What is in the way of a job's writes, as their answers told: a refusal by the API server, and
// what belongs to others under the job's names and is not in the view.
//
// All of it is believed for a while only, then the write is tried again. It may be lost.
//
// Ownership: value type. Threads: the executor's only. Errors: none.
//
//   if (obstacles.Refuse(step, result, look.begun, now)) Tell(result.message);
//   obstacles.Expire(now);
//   obstacles.Complete(snapshot);

#ifndef OPERATOR_CONTROLLER_OBSTACLES_H_
#define OPERATOR_CONTROLLER_OBSTACLES_H_

#include <map>
#include <optional>
#include <string>

#include "operator/base/clock.h"
#include "operator/controller/write_answer.h"
#include "operator/plan/plan.h"

namespace taas {

// As the planner sees a service, and a PodGroup.
ServiceView ViewOf(const OwnedObject& service);
PodGroupView ViewOf(const PodGroup& group);

class Obstacles {
 public:
  // The server's sentence; empty: nothing is refused.
  const std::string& refusal() const;
  // The ledger was: then nothing may be done that it would allow.
  bool ledger_refused() const;
  // True of a creation of a sort that was refused; of pods each role is a sort. Others go on: an
  // evaluator that a quota has no room for is no reason not to replace the chief.
  bool Holds(const Step& step) const;

  // False: the look that began at `begun` has met another refusal of this sort, and one counts.
  bool Refuse(const Step& step, const WriteResult& result, Clock::Time begun, Clock::Time now);
  // A name that the job needs belongs to somebody else.
  void Take(const WriteResult& result, Clock::Time now);

  // What was refused was made from another spec: this one may be the repair.
  void ForgetRefusal();
  // One of this sort was applied: the next refusal is a first one.
  void Progress(const Step& step);
  void Expire(Clock::Time now);
  // Forgets what the view shows meanwhile and adds the rest.
  void Complete(Snapshot& snapshot);

  // When something of it expires.
  std::optional<Clock::Duration> LookAgainAfter(Clock::Time now) const;

 private:
  struct Refusal {
    std::string message;  // Empty: it is tried again.
    Clock::Time until{};
    int times = 0;  // In a row.
  };
  bool IsRefused(const std::string& sort) const;

  std::map<std::string, Refusal> refusals_;  // By sort of step; the ledger's is the first.
  std::map<std::string, Pod> pods_;
  std::map<std::string, ServiceView> services_;
  std::optional<PodGroupView> pod_group_;
  Clock::Time foreign_until_{};
  int foreign_looks_ = 0;  // In a row that found something there.
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_OBSTACLES_H_
