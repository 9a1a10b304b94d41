#include "trainer/graph/placement.h"

#include <algorithm>

#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas {
namespace {

// A list of more says nothing to a reader.
constexpr size_t kDevicesShown = 4;

// Why the op cannot be there; "" if it can.
std::string Trouble(const Node& node, std::optional<DType> dtype, const DeviceName& wanted,
                    const Runtime& runtime) {
  if (wanted.type != runtime.type()) return "there is no " + wanted.type;
  if (static_cast<size_t>(wanted.index) >= runtime.devices.size()) {
    return "there is no such " + wanted.type;
  }
  if (dtype && runtime.kernels.Find(node.op, wanted.type, *dtype) == nullptr) {
    return "this program has no kernel of " + node.op + " for " + wanted.type + " and " +
           std::string(NameOf(*dtype));
  }
  return "";
}

}  // namespace

size_t Placement::own() const {
  const absl::StatusOr<DeviceName> name = DeviceName::Parse(device);
  if (!name.ok() || (!name->type.empty() && name->type != runtime.type())) return 0;
  const size_t index = static_cast<size_t>(name->index);
  return index < runtime.devices.size() ? index : 0;
}

std::string Placement::NameOfDevice(size_t i) const {
  const DeviceName name{.job = job,
                        .task = task,
                        .type = std::string(runtime.type()),
                        .index = static_cast<int>(i)};
  return name.ToString();
}

std::string Placement::Devices() const {
  const size_t count = runtime.devices.size();
  std::string text;
  for (size_t i = 0; i < std::min(count, kDevicesShown); ++i) {
    text += (text.empty() ? "" : ", ") + NameOfDevice(i);
  }
  if (count <= kDevicesShown) return text;
  return text + " and " + std::to_string(count - kDevicesShown) + " more " +
         std::string(runtime.type()) + "s";
}

std::string Placement::DeviceMapping() const {
  std::string text = "Device mapping:\n";
  for (size_t i = 0; i < runtime.devices.size(); ++i) {
    text += NameOfDevice(i) + " -> device: " + std::to_string(i) +
            ", name: " + runtime.devices[i]->name() + "\n";
  }
  return text;
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
    // What in-graph replication over tasks is to become.
    return refuse("which is another process, and a graph is computed by one: strategy AllReduce "
                  "trains a copy of it on each task, Towers on each device of a task");
  }
  device.job = placement.job;
  device.task = placement.task;
  if (device.type.empty()) device.type = placement.runtime.type();
  const std::string trouble = Trouble(node, dtype, device, placement.runtime);
  if (trouble.empty()) return device;
  DeviceName own = device;
  own.type = placement.runtime.type();
  own.index = static_cast<int>(placement.own());
  // What not even the session's device can compute is refused for that.
  const std::string hopeless = Trouble(node, dtype, own, placement.runtime);
  if (!hopeless.empty()) return refuse(hopeless);
  if (!placement.soft) return refuse(trouble + " (soft placement would take the session's)");
  Log(LogLevel::kWarning, place + " on the session's device instead",
      {{"wanted", text}, {"why", trouble}, {"placed", own.ToString()}});
  return own;
}

}  // namespace taas
