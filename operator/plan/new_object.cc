#include "operator/plan/new_object.h"

#include <utility>

namespace taas {

NewObject OwnedBy(const Job& job, std::string name) {
  return {.ns = job.meta.ns,
          .name = std::move(name),
          .owner_kind = job.kind,
          .job_name = job.meta.name,
          .job_uid = job.meta.uid,
          .labels = {{"app.kubernetes.io/managed-by", "taas"},
                     {std::string(kJobLabel), job.meta.name},
                     {std::string(kUidLabel), job.meta.uid}},
          .annotations = {}};
}

}  // namespace taas
