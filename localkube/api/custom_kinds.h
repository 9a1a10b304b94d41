// What the CRDs of the kinds that we serve say: schema, printer columns, scale subresource.
//
// Ownership: made at first use, kept for the life of the process. Threads: any. Errors: none;
// CustomKindOf is for kinds with `custom` only.
//
//   for (const CustomKind& kind : CustomKinds()) Install(kind.crd);

#ifndef LOCALKUBE_API_CUSTOM_KINDS_H_
#define LOCALKUBE_API_CUSTOM_KINDS_H_

#include <vector>

#include "localkube/api/kinds.h"
#include "operator/api/crd_schema.h"
#include "operator/api/job.h"
#include "third_party/json.h"

namespace taas::localkube {

struct CustomKind {
  JobKind job_kind = JobKind::kTrainingJob;
  const Kind* kind = nullptr;
  nlohmann::json crd;
  const CrdSchema* schema = nullptr;
  // Of the version that is served; empty where the CRD has none.
  nlohmann::json open_api;
  nlohmann::json columns;
  nlohmann::json scale_paths;
};

const std::vector<CustomKind>& CustomKinds();
const CustomKind& CustomKindOf(const Kind& kind);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_CUSTOM_KINDS_H_
