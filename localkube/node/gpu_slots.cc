#include "localkube/node/gpu_slots.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "localkube/node/pod_json.h"
#include "localkube/node/schedule.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

size_t GpusOf(const Json& container) {
  const Json& resources = Member(container, "resources");
  const int64_t milli = std::max(AmountMilli(Member(resources, "limits"), kGpuResource),
                                 AmountMilli(Member(resources, "requests"), kGpuResource));
  return static_cast<size_t>(std::max<int64_t>(milli, 0) / 1000);
}

}  // namespace

std::vector<int> ContainerSlots(const Json& pod, const std::string& container,
                                const std::vector<int>& pod_slots) {
  const Json& spec = Member(pod, "spec");
  for (const Json& init : Elements(spec, "initContainers")) {
    if (Text(init, "name") != container) continue;
    const size_t count = std::min(GpusOf(init), pod_slots.size());
    return {pod_slots.begin(), pod_slots.begin() + static_cast<ptrdiff_t>(count)};
  }
  size_t begin = 0;
  for (const Json& other : Elements(spec, "containers")) {
    const size_t end = begin + std::min(GpusOf(other), pod_slots.size() - begin);
    if (Text(other, "name") == container) {
      return {pod_slots.begin() + static_cast<ptrdiff_t>(begin),
              pod_slots.begin() + static_cast<ptrdiff_t>(end)};
    }
    begin = end;
  }
  return {};
}

}  // namespace taas::localkube
