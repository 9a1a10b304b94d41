// What people and dashboards are told about a job beside its status: events, a few per job and
// cause, in the words of the job's dialect.
//
// Ownership: the event writer must outlive it. Threads: the executor's only. Errors: none; an event
// that is lost is lost.
//
//   reporter.Once(job, memory, "service/mnist", "NameConflict", "a service mnist exists …");
//   reporter.Changed(job, memory, changes);

#ifndef OPERATOR_CONTROLLER_JOB_REPORTER_H_
#define OPERATOR_CONTROLLER_JOB_REPORTER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/controller/event_writer.h"
#include "operator/controller/recurring_events.h"
#include "operator/controller/write_answer.h"
#include "operator/plan/plan.h"

namespace taas {

class JobReporter {
 public:
  // What one job was told already. An operator that starts again has forgotten it.
  struct Memory {
    std::set<std::string> reported;
    RecurringEvents recurring;
    int creations = 0;
  };
  struct PodMade {
    std::string name;
    Role role = Role::kWorker;
    int32_t pod_number = 1;
  };
  // What one look at a job made and deleted, by name.
  struct Changes {
    std::vector<PodMade> pods_made;
    std::vector<std::string> services_made;
    std::vector<std::string> pods_deleted;
  };

  JobReporter(EventWriter& events, const Clock& clock) : events_(events), clock_(clock) {}

  // A warning, one per job and cause.
  void Once(const Job& job, Memory& memory, const std::string& cause, const std::string& reason,
            const std::string& message);
  void Conflict(const Job& job, Memory& memory, const ReportConflict& conflict);
  void Refused(const Job& job, Memory& memory, const Step& step, const WriteResult& result);
  // One event for all pods and one for all services of a look. Pods of TrainingJobs go without.
  void Changed(const Job& job, Memory& memory, const Changes& changes);
  void Noted(const Job& job, Memory& memory, const std::vector<LedgerNote>& notes);
  // All that is in the way of the job's replicas. Gives when to tell of it again, if nothing
  // changes.
  std::optional<Clock::Duration> Hindered(const Job& job, Memory& memory,
                                          const std::vector<Hindrance>& hindrances);

 private:
  void Made(const Job& job, Memory& memory, const Changes& changes);
  void TellRecurring(const Job& job, Memory& memory);

  EventWriter& events_;
  const Clock& clock_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_JOB_REPORTER_H_
