// Event files of TensorBoard, which an evaluator and the status page read: as they are, with right
// checksums; and what is asked of the page.

#include <map>
#include <string>
#include <vector>

#include "operator/base/crc32c.h"
#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/formats/record_frame.h"
#include "trainer/summary/event_file.h"
#include "trainer/summary/event_pages.h"

namespace taas {
namespace {

constexpr char kPath[] = "/d/events.out.tfevents.0000000001.host";

// Each record with right checksums, of a length of two bytes, or of the eight that follow it if it
// is 0xffff.
std::string Framed(std::string_view input) {
  std::string text;
  while (input.size() >= 2) {
    const std::vector<std::string_view> parts = FuzzParts(input, 2);
    if (input.starts_with("\xff\xff") && input.size() >= 10) {
      const std::string_view length = input.substr(2, 8);
      const uint32_t crc = MaskedCrc32c(length);
      text.append(length).append(reinterpret_cast<const char*>(&crc), sizeof(crc));
      input.remove_prefix(10);
      continue;
    }
    AppendRecord(parts[0], &text);
    input = parts[1];
  }
  return text;
}

void ReadAll(const std::string& text) {
  MemoryFiles files(std::map<std::string, std::string>{{kPath, text}});
  int64_t events = 0;
  (void)ReadEvents(files, "/d", 1 << 20, [&](const summary::Event&) { ++events; });
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  summary::Event version, step;
  version.set_file_version("brain.Event:2");
  step.set_step(3);
  summary::Summary::Value* const value = step.mutable_summary()->add_value();
  value->set_tag("loss");
  value->set_simple_value(0.5f);
  const std::string first = version.SerializeAsString(), second = step.SerializeAsString();
  return {FrameRecord(first) + FrameRecord(second), JoinFuzzParts({first, second, ""}),
          "file=./events.out.tfevents.0000000001.host&from=0", "file=a%2fb&from=12"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = taas::FuzzText(data, size);
  taas::ReadAll(std::string(input));
  taas::ReadAll(taas::Framed(input));
  // Which file is asked for, of a directory that is not there.
  (void)taas::EventPages("/none/at/all").Data(std::string(input));
  return 0;
}
