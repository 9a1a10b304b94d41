// One tf.train.Example.

#include <string>
#include <vector>

#include "tools/fuzz/target.h"
#include "trainer/data/example.h"
#include "trainer/data/example_parser.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  ExampleBuilder builder;
  const float floats[] = {1, 2.5f};
  const int64_t ints[] = {-1, 1 << 20, 7};
  builder.AddFloats("x", floats);
  builder.AddInts("words", ints);
  builder.AddBytes("image", "abcd");
  const std::string whole = builder.Take();
  builder.AddInts("x", ints);
  return {whole, builder.Take(), "\x0a\x00", std::string("\x12\x03\x0a\x01x", 5)};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using taas::FeatureKind;
  const std::string_view record = taas::FuzzText(data, size);
  std::vector<taas::ExampleFeature> found;
  if (taas::FindFeatures(record, &found).ok()) {
    taas::FeatureValues values;
    for (const taas::ExampleFeature& feature : found) {
      (void)taas::ReadFeature(feature.value, &values);
    }
  }
  taas::ExampleParser parser({{.name = "x", .shape = {2}},
                              {.name = "words", .kind = FeatureKind::kInt64, .fixed = false,
                               .shape = {4}},
                              {.name = "image", .kind = FeatureKind::kBytes, .shape = {2, 2},
                               .raw = taas::RawType::kUint8}});
  if (!parser.Parse(record).ok()) return 0;
  std::vector<float> out;
  for (size_t i = 0; i < parser.specs().size(); ++i) parser.AppendFloats(i, &out);
  return 0;
}
