// Records of event files, which any program of a job may have written, as the curves of the page
// take them.

#include <string>
#include <vector>

#include "dashboard/events/event.h"
#include "dashboard/events/tensor.h"
#include "tools/fuzz/target.h"

namespace taas {
namespace {

std::string Field(int number, std::string_view text) {
  std::string out{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())};
  return out.append(text);
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const std::string simple = Field(1, "loss") + std::string("\x15\0\0\0\x3f", 5);
  // float32 of shape [2], as bytes; then as numbers.
  const std::string bytes = std::string("\x08\x01\x12\x04\x12\x02\x08\x02", 8) +
                            Field(4, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  const std::string numbers = std::string("\x08\x01\x12\x00\x2a\x04\0\0\x80\x3f", 10);
  const std::string tensor = Field(1, "w") + Field(8, bytes) +
                             Field(9, Field(1, Field(1, "histograms")));
  return {Field(3, "brain.Event:2"),
          "\x10\x05" + Field(5, Field(1, simple)),
          Field(5, Field(1, tensor)),
          bytes,
          numbers,
          Field(5, Field(1, simple) + Field(1, tensor))};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taas::dashboard;
  const std::string_view text = taas::FuzzText(data, size);
  (void)ParseTensor(text, 1'000);
  (void)ParseMetadata(text);
  (void)ParseFileVersion(text);
  const auto event = ParseEvent(text);
  std::vector<ValueView> values;
  if (!event || !ParseValues(event->content, &values)) return 0;
  for (const ValueView& value : values) {
    (void)ParseMetadata(value.metadata);
    (void)ParseTensor(value.content, 1'000);
  }
  return 0;
}
