// What is written into a job itself: its ledger and its status, one request each.
//
// Ownership: all arguments must outlive it. Threads: the executor's only. Errors: as ApiWriter's.
//
//   writer.PatchStatus(job, status, kept, [](WriteResult result) { … });

#ifndef OPERATOR_CONTROLLER_JOB_WRITER_H_
#define OPERATOR_CONTROLLER_JOB_WRITER_H_

#include <chrono>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "operator/base/clock.h"
#include "operator/controller/api_writer.h"
#include "operator/controller/cluster_view.h"
#include "operator/controller/kept_fields.h"
#include "operator/plan/plan.h"

namespace taas {

class JobWriter {
 public:
  JobWriter(ApiWriter& api, const Clock& clock, ClusterView& view)
      : api_(api), clock_(clock), view_(view) {}

  void PatchLedger(const Job& job, const Ledger& ledger, WriteDone done);
  // `kept`, which outlives the writer, learns from the answer.
  void PatchStatus(const Job& job, const JobStatus& status, KeptFields& kept, Order order,
                   WriteDone done);
  // Likewise, but of conditions and message alone: the rest is another controller's.
  void PatchRefusal(const Job& job, const JobStatus& status, KeptFields& kept, WriteDone done);
  // Only a sentence, on a job that cannot be read.
  void PatchMessage(const ObjectMeta& job, JobKind kind, const std::string& message);
  // The condition Failed, with what is wrong and as the only one, on a TFJob that was stored
  // although it is invalid and that nobody has begun.
  void PatchInvalid(const ObjectMeta& job, JobKind kind, const std::string& message);

 private:
  void PatchFlaw(const ObjectMeta& job, JobKind kind, const nlohmann::json& status);
  void Patch(const Job& job, HttpRequest request, std::string what,
             std::function<void(const HttpReply& reply)> applied, WriteDone done);
  void ReadJobBack(const ObjectMeta& job, JobKind kind, std::chrono::milliseconds patience,
                   const std::string& what, const WriteDone& done);

  ApiWriter& api_;
  const Clock& clock_;
  ClusterView& view_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_JOB_WRITER_H_
