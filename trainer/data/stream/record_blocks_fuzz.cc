// Streamed files of records: indexed, and read block by block.

#include <string>
#include <vector>

#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/data/example.h"
#include "trainer/data/stream/record_blocks.h"
#include "trainer/formats/record_frame.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  std::string records;
  for (int64_t i = 0; i < 5; ++i) {
    ExampleBuilder builder;
    const float value = 1;
    builder.AddFloats("x", {&value, 1});
    builder.AddInts("y", {&i, 1});
    records += FrameRecord(builder.Take());
  }
  return {JoinFuzzParts({records, records}), JoinFuzzParts({"", records}),
          JoinFuzzParts({records, ""})};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parts = taas::FuzzParts(taas::FuzzText(data, size), 2);
  taas::MemoryFiles files({{"/a", std::string(parts[0])}, {"/b", std::string(parts[1])}});
  for (const bool skip : {false, true}) {
    const taas::RecordBlocks::Options options{
        .data = {.reader = {.skip_bad = skip},
                 .features = {{.name = "x"}, {.name = "y", .kind = taas::FeatureKind::kInt64}},
                 .label = "y",
                 .classes = 10},
        .block_examples = 2};
    const auto blocks = taas::RecordBlocks::Open(files, {"/a", "/b"}, options);
    if (!blocks.ok()) continue;
    for (int64_t i = 0; i < (*blocks)->blocks(); ++i) (void)(*blocks)->Load(i);
  }
  return 0;
}
