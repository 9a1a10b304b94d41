// Stands for NVIDIA's library on machines without its driver: libnvidia-ml.so.1, which programs
// load through nvml.h or LD_LIBRARY_PATH. Its devices are the lines of the file that TAAS_FAKE_NVML
// names, read at each call; without the file the driver "is not loaded":
//
//   GPU-aaaa 93 61234 81559 NVIDIA H100      id, utilization in percent, MiB used and there, name
//   GPU-bbbb - 100 81559 NVIDIA H100         "-": it does not tell, as a MIG device
//   lost                                     it has fallen off the bus

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0, kNotSupported = 3, kInsufficientSize = 7, kNotLoaded = 9, kLost = 15;

std::vector<std::string> Lines(bool* there) {
  const char* const path = std::getenv("TAAS_FAKE_NVML");
  std::ifstream file(path == nullptr ? "" : path);
  *there = file.is_open();
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

struct Fields {
  std::string id, utilization, name;
  unsigned long long used = 0, total = 0;
};

// A handle is the number of a line, from 1.
Fields FieldsOf(void* device) {
  bool there = false;
  const std::vector<std::string> lines = Lines(&there);
  const size_t line = reinterpret_cast<size_t>(device) - 1;
  Fields fields;
  if (line >= lines.size()) return fields;
  std::istringstream text(lines[line]);
  text >> fields.id >> fields.utilization >> fields.used >> fields.total >> std::ws;
  std::getline(text, fields.name);
  return fields;
}

int Copy(const std::string& text, char* out, unsigned length) {
  if (text.size() >= length) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

extern "C" {

struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};

int nvmlInit_v2() {
  bool there = false;
  Lines(&there);
  return there ? kSuccess : kNotLoaded;
}

int nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(int result) {
  return result == kNotLoaded ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  bool there = false;
  *count = static_cast<unsigned>(Lines(&there).size());
  return there ? kSuccess : kNotLoaded;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<size_t>(index) + 1);
  return FieldsOf(*device).id == "lost" ? kLost : kSuccess;
}

int nvmlDeviceGetUUID(void* device, char* out, unsigned length) {
  return Copy(FieldsOf(device).id, out, length);
}

int nvmlDeviceGetName(void* device, char* out, unsigned length) {
  return Copy(FieldsOf(device).name, out, length);
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* out) {
  const Fields fields = FieldsOf(device);
  if (fields.utilization == "-") return kNotSupported;
  *out = {static_cast<unsigned>(std::atoi(fields.utilization.c_str())), 0};
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(void* device, Memory* out) {
  const Fields fields = FieldsOf(device);
  *out = {fields.total << 20, (fields.total - fields.used) << 20, fields.used << 20};
  return kSuccess;
}

}  // extern "C"
