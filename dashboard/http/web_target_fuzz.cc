// Targets of requests to the page, and packed bodies.

#include <string>
#include <vector>

#include "dashboard/http/gzip.h"
#include "dashboard/http/web_target.h"
#include "operator/base/check.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {"/api/jobs/default/a%20b?limit=5&since=2026-01-01T00%3A00%3A00Z&x=+y", "/prefix/a/../b/",
          "/?a&b=&=c", dashboard::Gzip("hello hello hello")};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  for (const char* base : {"", "/prefix"}) {
    const auto target = taas::dashboard::ParseWebTarget(text, base);
    if (!target.ok()) continue;
    for (const std::string& segment : target->segments) {
      CHECK(segment != "." && segment != "..") << "a way out of the page's files";
    }
  }
  (void)taas::dashboard::PercentDecode(text, /*plus_is_space=*/true);
  (void)taas::dashboard::Gunzip(text, 1 << 20);
  return 0;
}
