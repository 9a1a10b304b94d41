// Logs of containers, as `taas logs` and the page read them: lines, times, two of them merged.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "operator/kube/line_splitter.h"
#include "operator/kube/log_line.h"
#include "operator/kube/resource_version.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {JoinFuzzParts({"2026-11-21T05:54:17.250000000Z one\n2026-11-21T05:54:18Z two\n",
                         "2026-11-21T05:54:17.3Z three\nno time\n"}),
          JoinFuzzParts({"2026-11-21T05:54:17+02:00 x\r\n\r\n", "12"})};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parts = taas::FuzzParts(taas::FuzzText(data, size), 2);
  (void)taas::MergeLogs({{"worker-0", std::string(parts[0])}, {"worker-1", std::string(parts[1])}});
  taas::SeenLines seen;
  taas::LineSplitter splitter(1024);
  for (int round = 0; round < 2; ++round) {
    (void)splitter.Add(parts[0], [&](std::string_view line) {
      (void)seen.IsNew(taas::ParseLogLine(line));
      return absl::OkStatus();
    });
    (void)seen.SinceTime();
    seen.Restart();
  }
  (void)taas::IsLater(parts[0], parts[1]);
  (void)taas::NotLater(parts[1], parts[0]);
  return 0;
}
