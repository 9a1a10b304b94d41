// TF_CONFIG, and what a replica then asks of it.

#include <string>
#include <vector>

#include "tools/fuzz/target.h"
#include "trainer/cluster/tf_config.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"cluster":{"chief":["c:2222"],"ps":["p0:2222","p1:2222"],"worker":["w0:2222"]},
              "task":{"type":"worker","index":"0"},"environment":"cloud"})",
          R"({"sparseCluster":{"worker":{"3":"m-worker-3.ns.svc:2222"},"ps":["m-ps-0.ns.svc:2222"]},
              "task":{"type":"worker","index":3}})",
          R"({"cluster":{"evaluator":["[::1]:7"]},"task":{"type":"evaluator"}})",
          R"({"task":{"type":"master","index":0}})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto cluster = taas::ParseTfConfig(taas::FuzzText(data, size));
  if (!cluster.ok() || !taas::CompleteSparse({}, &*cluster).ok()) return 0;
  (void)cluster->rank(cluster->self);
  (void)cluster->self_address();
  (void)cluster->alone();
  (void)cluster->on_loopback();
  (void)cluster->training_replicas();
  (void)cluster->chief();
  return 0;
}
