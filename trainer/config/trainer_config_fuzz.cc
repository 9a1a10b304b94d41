// `spec.trainer` as a replica gets it, in TAAS_TRAINER.

#include <string>
#include <vector>

#include "tools/fuzz/target.h"
#include "trainer/config/trainer_config.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"model": {"name": "mlp", "hidden": [5]}, "data": {"format": "generated"},
              "maxSteps": 10, "batchSize": 2, "seed": 3, "logSteps": 1, "jsonLogs": true,
              "optimizer": {"name": "adam", "learningRate": {"initial": 0.1, "decay":
                {"type": "exponential", "steps": 10, "rate": 0.5}, "warmup": {"steps": 3}},
                "clip": {"globalNorm": 1}, "lossScale": 128},
              "regularization": {"l1": 0.1, "l2": 0.1}, "movingAverage": {"decay": 0.9},
              "strategy": {"type": "ParameterServer", "mode": "Sync", "replicasToAggregate": 2,
                "backupWorkers": 1},
              "checkpoint": {"dir": "/out", "everySteps": 5, "keep": 2, "maxShardBytes": 100000},
              "export": {"dir": "/e", "format": "savedModel"},
              "summaries": {"dir": "/s", "everySteps": 2, "histograms": true},
              "evaluation": {"everySeconds": 5},
              "engine": {"interOpThreads": 1, "precision": "bfloat16",
                "trace": {"file": "/t", "fromStep": 1, "steps": 2}}})",
          R"({"model": {"layers": [{"type": "dense", "units": 3}]}, "data": {}, "maxSteps": 1})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = taas::ParseTrainerConfig(taas::FuzzText(data, size));
  if (config.ok()) (void)taas::ConfigHash(*config);
  return 0;
}
