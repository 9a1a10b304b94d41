// What the replicas of a job answer the dashboard: /series and /events.

#include <string>
#include <vector>

#include "dashboard/training/event_list.h"
#include "dashboard/training/series_source.h"
#include "third_party/json.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"series":{"loss":[[1,1700000000.5,0.5],[2,1700000001,null]],"x":[]}})",
          R"({"files":[{"run":".","file":"events.out.tfevents.1.h","bytes":5},
              {"run":"eval","file":"events.out.tfevents.2.h","bytes":18446744073709551615}]})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  (void)taas::dashboard::ReadSeriesPage(text);
  (void)taas::dashboard::ReadEventList(text);
  return 0;
}
