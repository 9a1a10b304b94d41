#include "trainer/graph/placement.h"

#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas {
namespace {

// A list of more says nothing to a reader.
constexpr int kDevicesShown = 4;

// Why the op cannot be there; "" if it can.
std::string Trouble(const Node& node, std::optional<DType> dtype, const DeviceName& wanted,
                    const Placement& placement) {
  if (wanted.type == "CPU" && wanted.index >= placement.cpu_devices) return "there is no such CPU";
  if (dtype && placement.kernels.Find(node.op, wanted.type, *dtype) == nullptr) {
    return "this program has no kernel of " + node.op + " for " + wanted.type + " and " +
           std::string(NameOf(*dtype));
  }
  if (wanted.type != "CPU") return "there is no " + wanted.type;
  return "";
}

}  // namespace

std::string Placement::Devices() const {
  std::string text;
  for (int i = 0; i < cpu_devices && i < kDevicesShown; ++i) {
    const DeviceName device{.job = job, .task = task, .type = "CPU", .index = i};
    text += (text.empty() ? "" : ", ") + device.ToString();
  }
  if (cpu_devices <= kDevicesShown) return text;
  return text + " and " + std::to_string(cpu_devices - kDevicesShown) + " more CPUs";
}

absl::StatusOr<DeviceName> PlaceNode(const Node& node, std::optional<DType> dtype,
                                     const Placement& placement) {
  const std::string place = "place " + node.name + " (" + node.op + ")";
  const std::string& text = node.device.empty() ? placement.device : node.device;
  absl::StatusOr<DeviceName> parsed = DeviceName::Parse(text);
  if (!parsed.ok()) return Annotate(parsed.status(), place);
  DeviceName device = *std::move(parsed);
  const auto refuse = [&](const std::string& why) {
    return absl::InvalidArgumentError(place + ": it asks for " + text + ", " + why +
                                      "; there is " + placement.Devices());
  };
  if ((!device.job.empty() && device.job != placement.job) ||
      (device.task != DeviceName::kAnyTask && device.task != placement.task)) {
    return refuse("which is another process");
  }
  device.job = placement.job;
  device.task = placement.task;
  const std::string trouble = Trouble(node, dtype, device, placement);
  if (trouble.empty()) return device;
  DeviceName fallback = device;
  fallback.type = "CPU";
  fallback.index = 0;
  // What not even the CPU can compute is refused for that.
  const std::string hopeless = Trouble(node, dtype, fallback, placement);
  if (!hopeless.empty()) return refuse(hopeless);
  if (!placement.soft) return refuse(trouble + " (soft placement would take the CPU)");
  Log(LogLevel::kWarning, place + " on the CPU instead",
      {{"wanted", text}, {"why", trouble}, {"placed", fallback.ToString()}});
  return fallback;
}

}  // namespace taas
