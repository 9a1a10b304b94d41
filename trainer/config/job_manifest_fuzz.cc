// What `taas-trainer --config` is given: spec.trainer, or the manifest of a job.

#include <string>
#include <vector>

#include "tools/fuzz/target.h"
#include "trainer/config/job_manifest.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"maxSteps": 3, "data": {"train": {"files": ["/data/a"]}}})",
          "kind: TrainingJob\nspec:\n  trainer:\n    data: {train: {images: /data/x, labels: /y}}\n"
          "    checkpoint: {dir: /out/c}\n  volumes:\n    - {name: data, mountPath: /data}\n"
          "    - {name: out, mountPath: /out}\n",
          "kind: List\nitems:\n- {kind: TrainingJob, spec: {trainer: {}}}\n---\na: 1\n"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  const std::vector<taas::VolumeDir> volumes = {{"data", "here"}};
  (void)taas::TrainerOfConfig(text, "x", {}, {});
  (void)taas::TrainerOfConfig(text, "x", volumes, {.others = false});
  return 0;
}
