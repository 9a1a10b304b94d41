#include "trainer/cuda/found.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/cuda/shared_library.h"

namespace taas::cuda {
namespace {

using Json = nlohmann::ordered_json;

// A library, and the function that says its version.
struct Wanted {
  const char* name;
  const char* file;  // Without its major version.
  int major;
  const char* function;
  bool by_argument;  // int f(int* version), else size_t f().
};

// cuDNN's functions of graphs are in libraries that it opens by itself.
constexpr Wanted kLibraries[] = {
    {"cuBLASLt", "libcublasLt.so.", 13, "cublasLtGetVersion", false},
    {"cuDNN", "libcudnn.so.", 9, "cudnnGetVersion", false},
    {"NCCL", "libnccl.so.", 2, "ncclGetVersion", true},
};
// Other major versions that a machine may have.
constexpr int kOtherMajors[] = {1, 7, 8, 9, 10, 11, 12, 13, 14};

// All three count 10000 * major + 100 * minor + patch; NCCL since 2.9, cuDNN since 9.
std::string VersionText(size_t number) {
  return std::to_string(number / 10'000) + "." + std::to_string(number % 10'000 / 100) + "." +
         std::to_string(number % 100);
}

absl::StatusOr<size_t> AskVersion(const SharedLibrary& library, const Wanted& wanted) {
  if (wanted.by_argument) {
    int (*ask)(int*) = nullptr;
    RETURN_IF_ERROR(library.Find(wanted.function, &ask));
    int number = 0;
    const int result = ask(&number);
    if (result == 0) return static_cast<size_t>(number);
    return absl::UnavailableError(std::string(wanted.function) + ": error " +
                                  std::to_string(result));
  }
  size_t (*ask)() = nullptr;
  RETURN_IF_ERROR(library.Find(wanted.function, &ask));
  return ask();
}

// A version that is there instead; "" for none.
std::string AnotherMajor(const std::string& prefix, const Wanted& wanted) {
  for (const int major : kOtherMajors) {
    if (major == wanted.major) continue;
    const std::string file = wanted.file + std::to_string(major);
    if (SharedLibrary::Open(prefix + file).ok()) return file;
  }
  return "";
}

FoundLibrary FindLibrary(const std::string& prefix, const Wanted& wanted) {
  FoundLibrary found{.name = wanted.name};
  const auto library = SharedLibrary::Open(prefix + wanted.file + std::to_string(wanted.major));
  if (!library.ok()) {
    found.missing = std::string(library.status().message());
    const std::string other = AnotherMajor(prefix, wanted);
    if (!other.empty()) found.missing += "; " + other + " is here, of another major version";
    return found;
  }
  found.path = library->path();
  const absl::StatusOr<size_t> number = AskVersion(*library, wanted);
  if (number.ok()) {
    found.version = VersionText(*number);
  } else {
    found.missing = std::string(number.status().message());
  }
  return found;
}

std::string Gib(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

std::string CapabilityOf(const DeviceInfo& device) {
  return std::to_string(device.major) + "." + std::to_string(device.minor);
}

std::string Line(std::string head, const std::string& rest) {
  constexpr size_t kColumn = 10;
  head.resize(std::max(head.size() + 1, kColumn), ' ');
  return head + rest + "\n";
}

}  // namespace

int Found::usable() const {
  return static_cast<int>(std::ranges::count_if(
      devices, [](const DeviceInfo& device) { return device.Unusable().empty(); }));
}

Found Find(const Names& names) {
  Found found;
  const auto driver = Driver::Load(names.driver);
  found.driver.status = driver.status();
  if (driver.ok()) {
    found.driver.release = ReleaseOf((*driver)->version());
    found.driver.path = (*driver)->path();
    auto devices = (*driver)->Devices();
    found.devices_status = devices.status();
    if (devices.ok()) found.devices = *std::move(devices);
  }
  for (const Wanted& wanted : kLibraries) {
    found.libraries.push_back(FindLibrary(names.prefix, wanted));
  }
  return found;
}

std::string TextOf(const Found& found) {
  const FoundDriver& driver = found.driver;
  std::string text = Line("driver", driver.status.ok()
                                        ? "CUDA " + driver.release + "  " + driver.path
                                        : std::string(driver.status.message()));
  if (!found.devices_status.ok()) {
    text += Line("devices", std::string(found.devices_status.message()));
  }
  for (const DeviceInfo& device : found.devices) {
    const std::string unusable = device.Unusable();
    const std::string which = "device " + std::to_string(device.index);
    if (!device.trouble.empty()) {
      text += Line(which, "not usable: " + unusable);
      continue;
    }
    text += Line(which,
                 device.name + "  " + CapabilityOf(device) + "  " + Gib(device.memory_bytes) +
                     "  " + std::to_string(device.multiprocessors) + " multiprocessors  " +
                     (device.ecc ? "ECC  " : "") + device.id +
                     (unusable.empty() ? "" : "  not usable: " + unusable));
  }
  for (const FoundLibrary& library : found.libraries) {
    text += Line(library.name, library.missing.empty()
                                   ? library.version + "  " + library.path
                                   : library.missing);
  }
  return text;
}

std::string JsonOf(const Found& found) {
  Json json;
  if (found.driver.status.ok()) {
    json["driver"] = {{"cuda", found.driver.release}, {"path", found.driver.path}};
  } else {
    json["driver"] = {{"missing", found.driver.status.message()}};
  }
  if (!found.devices_status.ok()) json["driver"]["devices"] = found.devices_status.message();
  json["devices"] = Json::array();
  for (const DeviceInfo& device : found.devices) {
    Json entry = {{"index", device.index},
                  {"id", device.id},
                  {"name", device.name},
                  {"computeCapability", CapabilityOf(device)},
                  {"memoryBytes", device.memory_bytes},
                  {"multiprocessors", device.multiprocessors},
                  {"ecc", device.ecc}};
    if (const std::string why = device.Unusable(); !why.empty()) entry["unusable"] = why;
    json["devices"].push_back(std::move(entry));
  }
  json["libraries"] = Json::array();
  for (const FoundLibrary& library : found.libraries) {
    Json entry = {{"name", library.name}};
    if (library.missing.empty()) {
      entry["version"] = library.version;
    } else {
      entry["missing"] = library.missing;
    }
    if (!library.path.empty()) entry["path"] = library.path;
    json["libraries"].push_back(std::move(entry));
  }
  json["usable"] = found.usable();
  return json.dump(2) + "\n";
}

}  // namespace taas::cuda
