// Logs of replicas as the page shows them: split into lines, cut, written as JSON.

#include <string>
#include <vector>

#include "dashboard/logs/log_splitter.h"
#include "dashboard/logs/log_text.h"
#include "operator/base/check.h"
#include "third_party/json.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {"one\ntwo\r\n\nthree", "a\rb\x1b[31m\xff\n",
          std::string(dashboard::kLogLineBytesMax, 'x')};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  taas::dashboard::LogSplitter splitter;
  const auto look = [](taas::dashboard::LogSplitter::Line line) {
    std::string json;
    taas::dashboard::AppendJsonText(line.text, &json);
    CHECK(nlohmann::json::accept(json)) << "no JSON: " << json;
    (void)line.Mark();
  };
  splitter.Add(text.substr(0, size / 2), look);
  splitter.Add(text.substr(size / 2), look);
  if (const auto rest = splitter.rest()) look(*rest);
  (void)taas::dashboard::SafeFileName(text);
  return 0;
}
