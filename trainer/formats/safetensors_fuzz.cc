// A safetensors file: as it is, and with the length of its header made right.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/formats/safetensors.h"

namespace taas {
namespace {

void ReadAll(const std::string& text) {
  MemoryFiles files({{"/x", text}});
  const auto reader = SafetensorsReader::Open(files, "/x");
  if (!reader.ok()) return;
  for (const auto& [name, entry] : (*reader)->entries()) {
    (void)(*reader)->Read(name);
    (void)(*reader)->ReadInt64s(name);
    std::array<float, 4> floats{};
    (void)(*reader)->ReadFloats(name, entry.shape, floats);
  }
}

std::string File(std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  std::string text(reinterpret_cast<const char*>(&length), sizeof(length));
  return text.append(header).append(data);
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const std::string data(24, '\x3f');
  return {JoinFuzzParts({R"({"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},
                             "s":{"dtype":"I64","shape":[],"data_offsets":[16,24]},
                             "__metadata__":{"format":"pt","global_step":"3"}})", data}),
          JoinFuzzParts({R"({"e":{"dtype":"BF16","shape":[0],"data_offsets":[0,0]},
                             "b":{"dtype":"BOOL","shape":[24],"data_offsets":[0,24]}}   )", data}),
          File("{\"f\":{\"dtype\":\"F8_E4M3\",\"shape\":[24],\"data_offsets\":[0,24]}}", data)};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taas::ReadAll(std::string(taas::FuzzText(data, size)));
  const auto parts = taas::FuzzParts(taas::FuzzText(data, size), 2);
  taas::ReadAll(taas::File(parts[0], parts[1]));
  return 0;
}
