// Events about a job, one request each.
//
// Ownership: all arguments must outlive it. Threads: the executor's only. Errors: none: sent once;
// an event that is lost is lost, one that is refused stands in the log.
//
//   events.Write(job, /*warning=*/true, "NameConflict", "a service mnist exists …");

#ifndef OPERATOR_CONTROLLER_EVENT_WRITER_H_
#define OPERATOR_CONTROLLER_EVENT_WRITER_H_

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

  void Write(const Job& job, bool warning, const std::string& reason, const std::string& message);

 private:
  ApiWriter& api_;
  const Clock& clock_;
  Random& random_;
  bool refused_ = false;  // The last one was.
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_EVENT_WRITER_H_
