// What every object has that is made for a job: its name, whose it is and how it is found again.
//
// Ownership: value type. Threads: const access from any thread. Errors: none.
//
//   CreateService service{OwnedBy(job, name)};

#ifndef OPERATOR_PLAN_NEW_OBJECT_H_
#define OPERATOR_PLAN_NEW_OBJECT_H_

#include <map>
#include <string>

#include "operator/api/job.h"

namespace taas {

struct NewObject {
  std::string ns;
  std::string name;
  JobKind owner_kind = JobKind::kTrainingJob;
  std::string job_name;  // The owner.
  std::string job_uid;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
};

// With the labels by which all objects of the job are found; those of a pod or of one replica's
// service are more.
NewObject OwnedBy(const Job& job, std::string name);

}  // namespace taas

#endif  // OPERATOR_PLAN_NEW_OBJECT_H_
