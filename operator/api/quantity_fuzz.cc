// Amounts of Kubernetes, as they stand in pods and quotas; and objects in protobuf's envelope.

#include <string>
#include <vector>

#include "operator/api/kube_protobuf.h"
#include "operator/api/quantity.h"
#include "operator/base/check.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {"1",   "1500m", "1.5Gi", "-2e3", " 4Ki ", "1E",  "9223372036854775807", "0.0001n",
          "1e30", WrapKubeProtobuf("message")};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(taas::FuzzText(data, size));
  (void)taas::SaturatedMilli(text);
  (void)taas::QuantityFlaw(text);
  if (const auto milli = taas::QuantityMilli(text)) {
    CHECK(taas::QuantityMilli(taas::MilliQuantity(*milli)) == milli) << text;
  }
  if (taas::IsKubeProtobuf(text)) (void)taas::UnwrapKubeProtobuf(text);
  return 0;
}
