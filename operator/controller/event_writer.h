// Events about a job, one request each.
//
// Ownership: all arguments must outlive it. Threads: the executor's only. Errors: none: sent once;
// an event that is lost is lost, one that is refused stands in the log.
//
//   events.Write(job, /*warning=*/true, "NameConflict", "a service mnist exists …");

#ifndef OPERATOR_CONTROLLER_EVENT_WRITER_H_
#define OPERATOR_CONTROLLER_EVENT_WRITER_H_

#include <optional>
#include <string>

#include "operator/api/job.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "operator/controller/api_writer.h"

namespace taas {

class EventWriter {
 public:
  EventWriter(ApiWriter& api, const Clock& clock, Random& random)
      : api_(api), clock_(clock), random_(random) {}

  // What an event stands for: so many times since then.
  struct Count {
    int times = 1;
    std::optional<Clock::WallTime> since;  // Nothing: now.
  };

  void Write(const Job& job, bool warning, const std::string& reason, const std::string& message) {
    Write(job, warning, reason, message, Count());
  }
  void Write(const Job& job, bool warning, const std::string& reason, const std::string& message,
             const Count& count);

 private:
  ApiWriter& api_;
  const Clock& clock_;
  Random& random_;
  bool refused_ = false;  // The last one was.
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_EVENT_WRITER_H_
