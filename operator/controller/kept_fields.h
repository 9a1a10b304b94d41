// Which fields of a job's status the API server keeps: a CRD that is not ours (that of an earlier
// TFJob operator) drops those that it does not know, and says nothing.
//
// Without this a status would differ from what was written for ever, and be written again at each
// look. All of it is written each time something that is kept has changed, so a CRD that is
// replaced by ours is noticed.
//
// Ownership: value type. Threads: one at a time. Errors: none; what is not JSON teaches nothing.
//
//   kept.Learn(EncodeStatus(job, wanted), reply.body);
//   if (kept.Of(EncodeStatus(job, job.status)) == kept.Of(EncodeStatus(job, wanted))) return;

#ifndef OPERATOR_CONTROLLER_KEPT_FIELDS_H_
#define OPERATOR_CONTROLLER_KEPT_FIELDS_H_

#include <set>
#include <string>
#include <string_view>

namespace taas {

class KeptFields {
 public:
  // `sent` is a status, `stored` the object that the server answered its write with.
  void Learn(std::string_view sent, std::string_view stored);
  // `status` without what would be dropped.
  std::string Of(std::string status) const;
  // Of a field at the top of the status; true until the opposite is known.
  bool Keeps(const std::string& field) const { return dropped_.count(field) == 0; }

 private:
  std::set<std::string> dropped_;  // "state", "conditions[].observedGeneration", …
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_KEPT_FIELDS_H_
