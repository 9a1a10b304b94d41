// Objects, lists and refusals of an API server, as JSON or protobuf.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "operator/api/kube_protobuf.h"
#include "operator/kube/api_error.h"
#include "operator/kube/lease.h"
#include "operator/kube/list_page.h"
#include "operator/kube/object_fields.h"
#include "operator/kube/pod_decoder.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  using std::string_literals::operator""s;  // Its bytes are counted by the compiler.
  return {R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"c"},
              "items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})",
          R"({"kind":"Status","code":409,"reason":"Conflict","message":"m",
              "details":{"retryAfterSeconds":3}})",
          R"({"kind":"Lease","metadata":{"name":"l","uid":"u","resourceVersion":"3"},
              "spec":{"holderIdentity":"h","leaseDurationSeconds":15,"leaseTransitions":2,
              "renewTime":"2026-11-21T05:54:17.123456Z"}})",
          R"({"kind":"PodGroup","metadata":{"name":"g","uid":"u"},"spec":{"minMember":3},
              "status":{"phase":"Pending","conditions":[{"type":"Unschedulable","status":"True",
              "message":"m"}]}})",
          WrapKubeProtobuf("\x0a\x06\x0a\x02v1\x12\0\x12\x05\x0a\x03\x0a\x01x"s)};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  (void)taas::ReadListPage(text, [](std::string_view item) {
    (void)taas::ReadObjectFields(item);
    return absl::OkStatus();
  });
  (void)taas::DecodePod(text);
  (void)taas::DecodePodGroup(text);
  (void)taas::DecodeOwnedObject(text);
  (void)taas::StatusOfApiError(taas::ParseApiError(text, 500), "get it");
  const auto lease = taas::DecodeLease(text);
  if (!lease.ok()) return 0;
  (void)taas::EncodeLease({"ns", "l"}, &*lease, {.holder = "me", .transitions = 3});
  (void)taas::EncodeLeaderEvent({"ns", "l"}, *lease, {});
  return 0;
}
