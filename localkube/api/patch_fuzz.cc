// Patches of the three kinds on an object, both as anybody may send them.

#include <string>
#include <vector>

#include "localkube/api/base64.h"
#include "localkube/api/patch.h"
#include "localkube/api/route.h"
#include "third_party/json.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  const std::string object = R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[
      {"name":"c","env":[{"name":"A","value":"1"}]},{"name":"d"}]}})";
  return {JoinFuzzParts({object, R"({"metadata":{"labels":{"a":null,"q":{"r":[1]}}}})"}),
          JoinFuzzParts({object, R"([{"op":"copy","from":"/spec","path":"/other"},
              {"op":"replace","path":"/spec/containers/0/name","value":"e"},
              {"op":"remove","path":"/metadata"},{"op":"add","path":"/x~1y~0","value":[]}])"}),
          JoinFuzzParts({object, R"({"spec":{"containers":[{"name":"c","$patch":"replace"},
              {"name":"d","env":[{"name":"B","value":"2"}]}],
              "$setElementOrder/containers":[{"name":"d"},{"name":"c"}],
              "$retainKeys":["containers"]}})"}),
          JoinFuzzParts({"/api/v1/namespaces/a%2Fb/pods/c/log?follow=true&tailLines=5", "YWJj"})};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using taas::localkube::PatchType;
  const auto parts = taas::FuzzParts(taas::FuzzText(data, size), 2);
  (void)taas::localkube::ParseRoute(parts[0]);
  (void)taas::localkube::DecodeBase64(parts[1]);
  const auto object = nlohmann::json::parse(parts[0], nullptr, /*allow_exceptions=*/false);
  const auto patch = nlohmann::json::parse(parts[1], nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded() || patch.is_discarded()) return 0;
  for (const PatchType type : {PatchType::kMerge, PatchType::kJson, PatchType::kStrategic}) {
    (void)taas::localkube::ApplyPatch(type, object, patch);
  }
  return 0;
}
