// What a job's own program says of itself: its /status page and its termination message.

#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/last_words.h"
#include "operator/plan/trainer_report.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"uid":"u","state":"Training","message":"m","step":5,"maxSteps":10,"loss":0.5,
              "examplesPerSecond":100.5,"etaSeconds":3,"data":{"source":"s"},
              "evaluation":{"step":5,"loss":1,"accuracy":0.5,"examples":100}})",
          R"({"gpus":[{"utilization":0.5,"powerWatts":9,"throttle":["Heat"]}],
              "peers":[{"gpus":[{"memoryUsedMiB":5,"temperatureC":50,"eccUncorrected":1}]}]})",
          R"({"role":"chief","index":0,"shares":{"compute":0.5,"bytesPerStep":9},
              "slowest":"worker-1",
              "peers":[{"role":"worker","index":1,"shares":{"wait":0.1,"hiddenExchange":1e9}}]})",
          R"({"checkpoints":[{"step":5,"bytes":9,"savedAt":"2026-11-21T05:54:17Z"},{"step":4}]})",
          "Traceback (most recent call last):\n  File \"x\"\nValueError: no\r\n",
          R"({"step":18446744073709551615,"loss":1e308})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  CHECK(taas::LastWords(text).size() <= taas::kLastWordsBytesMax) << "longer than a message";
  (void)taas::MessageOfTermination(text);
  const auto report = taas::ParseTrainerReport(text);
  if (report) (void)taas::MergeProgress({}, *report, 100);
  return 0;
}
