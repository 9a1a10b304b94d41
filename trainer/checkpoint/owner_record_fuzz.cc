// The file .owner of a checkpoint directory.

#include <string>
#include <vector>

#include "tools/fuzz/target.h"
#include "trainer/checkpoint/owner_record.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {EncodeOwnerRecord({.owner = {.job = "default/mnist", .uid = "u", .start = "0f"},
                             .renewed = {},
                             .released = true}),
          R"({"job": "a/b", "uid": "u", "attempt": 2, "pod": 3, "start": "ff",
              "renewed": "2026-01-02T03:04:05.678901Z"})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto record = taas::ParseOwnerRecord(std::string(taas::FuzzText(data, size)));
  if (!record.ok()) return 0;
  (void)taas::DescribeOwner(record->owner);
  (void)taas::MayClaim(*record, {.uid = "u"}, {}, std::chrono::seconds(30));
  (void)taas::ParseOwnerRecord(taas::EncodeOwnerRecord(*record));
  return 0;
}
