// Stands for NVIDIA's library on machines without its driver: libnvidia-ml.so.1, which programs
// load through nvml.h or LD_LIBRARY_PATH. Its devices are the lines of the file that TAAS_FAKE_NVML
// names, read at each call; without the file the driver "is not loaded", and a FIFO that nobody
// writes is a driver that does not answer:
//
//   GPU-aaaa 93 61234 81559 NVIDIA H100      id, utilization in percent, MiB used and there, name
//   GPU-bbbb - 100 81559 NVIDIA H100         "-": it does not tell, as a MIG device
//   lost                                     it has fallen off the bus
//   MIG-cccc - 100 9856 H100 MIG 1g.10gb     a part of a GPU: found by its id only
//
// What else a device tells stands before its name; it does not tell what is left out:
//
//   GPU-aaaa 93 61234 81559 power=412500 limit=700000 temperature=64 reasons=36 ecc=1
//     volatile=7,2 aggregate=9,3 remapped=1,2,0,0 retiring=0 NVIDIA H100        (on one line)

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6,
              kInsufficientSize = 7, kNotLoaded = 9, kLost = 15;

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
  std::map<std::string, std::vector<unsigned long long>> more;
};

bool IsPart(const std::string& id) { return id.rfind("MIG-", 0) == 0; }

Fields Parse(const std::string& line) {
  std::istringstream text(line);
  Fields fields;
  text >> fields.id >> fields.utilization >> fields.used >> fields.total;
  for (std::string word; text >> word;) {
    const size_t equals = word.find('=');
    if (!fields.name.empty() || equals == std::string::npos) {
      fields.name += (fields.name.empty() ? "" : " ") + word;
      continue;
    }
    std::istringstream numbers(word.substr(equals + 1));
    auto& values = fields.more[word.substr(0, equals)];
    for (std::string number; std::getline(numbers, number, ',');) {
      values.push_back(std::strtoull(number.c_str(), nullptr, 10));
    }
  }
  return fields;
}

// A handle is the number of a line, from 1.
void* HandleOf(size_t line) { return reinterpret_cast<void*>(line + 1); }
size_t LineOf(void* device) { return reinterpret_cast<size_t>(device) - 1; }

Fields FieldsOf(void* device) {
  bool there = false;
  const std::vector<std::string> lines = Lines(&there);
  return LineOf(device) < lines.size() ? Parse(lines[LineOf(device)]) : Fields();
}

// The lines of whole GPUs.
std::vector<size_t> Whole(bool* there) {
  const std::vector<std::string> lines = Lines(there);
  std::vector<size_t> whole;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!IsPart(lines[i])) whole.push_back(i);
  }
  return whole;
}

int Copy(const std::string& text, char* out, unsigned length) {
  if (text.size() >= length) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

// The nth of the numbers under this name.
template <typename Number>
int Tell(void* device, const char* name, size_t nth, Number* out) {
  const Fields fields = FieldsOf(device);
  const auto found = fields.more.find(name);
  if (found == fields.more.end() || nth >= found->second.size()) return kNotSupported;
  *out = static_cast<Number>(found->second[nth]);
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
  return result == kNotLoaded  ? "Driver Not Loaded"
         : result == kNotFound ? "Not Found"
         : result == kLost     ? "GPU is lost"
                               : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  bool there = false;
  *count = static_cast<unsigned>(Whole(&there).size());
  return there ? kSuccess : kNotLoaded;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  bool there = false;
  const std::vector<size_t> whole = Whole(&there);
  if (index >= whole.size()) return kInvalidArgument;
  *device = HandleOf(whole[index]);
  return FieldsOf(*device).id == "lost" ? kLost : kSuccess;
}

int nvmlDeviceGetHandleByUUID(const char* id, void** device) {
  bool there = false;
  const std::vector<std::string> lines = Lines(&there);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (Parse(lines[i]).id != id) continue;
    *device = HandleOf(i);
    return kSuccess;
  }
  return there ? kNotFound : kNotLoaded;
}

int nvmlDeviceGetIndex(void* device, unsigned* index) {
  bool there = false;
  const std::vector<size_t> whole = Whole(&there);
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] != LineOf(device)) continue;
    *index = static_cast<unsigned>(i);
    return kSuccess;
  }
  return kNotSupported;
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

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return Tell(device, "power", 0, milliwatts);
}

int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  return Tell(device, "limit", 0, milliwatts);
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  return sensor == 0 ? Tell(device, "temperature", 0, degrees) : kInvalidArgument;
}

int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return Tell(device, "reasons", 0, reasons);
}

int nvmlDeviceGetEccMode(void* device, int* current, int* pending) {
  *pending = 0;
  return Tell(device, "ecc", 0, current);
}

int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* errors) {
  return Tell(device, counter == 0 ? "volatile" : "aggregate", static_cast<size_t>(type), errors);
}

int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
  size_t nth = 0;
  for (unsigned* const to : {corrected, uncorrected, pending, failed}) {
    if (const int result = Tell(device, "remapped", nth++, to)) return result;
  }
  return kSuccess;
}

int nvmlDeviceGetRetiredPagesPendingStatus(void* device, int* pending) {
  return Tell(device, "retiring", 0, pending);
}

}  // extern "C"
