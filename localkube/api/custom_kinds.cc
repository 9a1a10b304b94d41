#include "localkube/api/custom_kinds.h"

#include <memory>
#include <string>
#include <utility>

#include "operator/api/tfjob_crd.h"
#include "operator/api/trainingjob_crd.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

CustomKind MakeKind(JobKind job_kind, const std::string& crd_json, const CrdSchema& schema) {
  CustomKind out;
  out.job_kind = job_kind;
  out.crd = json::parse(crd_json);
  out.schema = &schema;
  out.kind = FindResource(out.crd["metadata"]["name"].get<std::string>());
  const json& version = out.crd["spec"]["versions"][0];  // Both have one.
  out.open_api = version["schema"]["openAPIV3Schema"];
  out.columns = version.value("additionalPrinterColumns", json::array());
  out.scale_paths =
      version.value("subresources", json::object()).value("scale", json::object());
  return out;
}

}  // namespace

const std::vector<CustomKind>& CustomKinds() {
  static const std::vector<CustomKind>* const kKinds = [] {
    auto kinds = std::make_unique<std::vector<CustomKind>>();
    kinds->push_back(
        MakeKind(JobKind::kTrainingJob, TrainingJobCrdJson(), TrainingJobSchema()));
    kinds->push_back(MakeKind(JobKind::kTfJob, TfJobCrdJson(), TfJobSchema()));
    return kinds.release();  // For the life of the process.
  }();
  return *kKinds;
}

const CustomKind& CustomKindOf(const Kind& kind) {
  const std::vector<CustomKind>& all = CustomKinds();
  for (const CustomKind& custom : all) {
    if (custom.kind == &kind) return custom;
  }
  return all.front();
}

}  // namespace taas::localkube
