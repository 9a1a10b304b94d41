#include "localkube/api/pod_rules.h"

#include <string>
#include <vector>

#include "localkube/api/kube_status.h"
#include "localkube/api/rules/names.h"
#include "operator/api/core/pod_spec_check.h"
#include "operator/api/field_error.h"
#include "third_party/json.h"

namespace taas::localkube {

using nlohmann::json;

absl::Status CheckPodSpec(const Kind& kind, const json& pod) {
  std::vector<FieldError> errors = taas::CheckPodSpec(
      pod.value("spec", json()), {.path = "spec", .words = TypeWords::kDecoder});
  // Those have been dropped, or are of an earlier version.
  std::erase_if(errors, [](const FieldError& error) { return error.reason == kFieldUnknown; });
  std::vector<FieldError> values = errors;
  std::erase_if(errors, [](const FieldError& error) { return error.reason != kMalformed; });
  if (!errors.empty()) {
    return BadRequest("Pod in version \"v1\" cannot be handled as a Pod: " +
                      FormatFieldErrors(errors));
  }
  if (values.empty()) return absl::OkStatus();
  return Invalid(kind, pod["metadata"].value("name", ""), values);
}

}  // namespace taas::localkube
