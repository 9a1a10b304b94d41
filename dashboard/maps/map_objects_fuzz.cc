// What the maps of the page read: Kueue's objects, and which GPUs a replica says it has.

#include <string>
#include <vector>

#include "dashboard/maps/gpu_readings.h"
#include "dashboard/maps/kueue_objects.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"metadata":{"name":"q","uid":"u"},"spec":{"cohort":"c",
              "queueingStrategy":"StrictFIFO",
              "clusterQueue":"q","resourceGroups":[{"flavors":[{"name":"f","resources":[
              {"name":"cpu","nominalQuota":"5","borrowingLimit":"1Ki"}]}]}]},
              "status":{"admittedWorkloads":2,"flavorsReservation":[{"name":"f",
              "resources":[{"name":"cpu","total":"3","borrowed":"1"}]}],
              "conditions":[{"type":"Active","status":"False","message":"m"}]}})",
          R"({"metadata":{"name":"w","ownerReferences":[{"kind":"TFJob","name":"j","uid":"o",
              "controller":true}]},"spec":{"queueName":"q","priority":5,"active":true,"podSets":[
              {"count":3,"template":{"spec":{"containers":[{"resources":{"requests":
              {"nvidia.com/gpu":"2"}}}]}}}]},"status":{"admission":{"clusterQueue":"c"},
              "conditions":[{"type":"QuotaReserved","status":"True",
              "lastTransitionTime":"2026-11-21T05:54:17Z"}]}})",
          R"({"gpus":[{"id":"GPU-1","index":0,"utilization":0.5,"memoryUsedMiB":5}],"peers":[
              {"replica":"worker-1","gpus":[{"id":"GPU-2","index":1}]}]})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  (void)taas::dashboard::ReadClusterQueue(text);
  (void)taas::dashboard::ReadLocalQueue(text);
  (void)taas::dashboard::ReadWorkload(text, "nvidia.com/gpu");
  (void)taas::dashboard::ReadGpuPage(text, /*by_index=*/false);
  (void)taas::dashboard::ReadGpuPage(text, /*by_index=*/true);
  return 0;
}
