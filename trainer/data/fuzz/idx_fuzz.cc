// IDX files of images and of their labels, plain or packed.

#include <array>
#include <string>
#include <vector>

#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"

namespace taas {
namespace {

std::string Idx(std::vector<int64_t> shape, const std::string& bytes) {
  return EncodeIdx(shape, bytes);
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const std::string images = Idx({2, 2, 3}, "abcdefghijkl");
  const std::string labels = Idx({2}, std::string("\1\0", 2));
  const std::string floats("\0\0\x0d\1\0\0\0\2\x3f\x80\0\0\x40\0\0\0", 16);
  const std::string colours = Idx({2, 1, 2, 3}, "abcdefghijkl");
  return {JoinFuzzParts({images, labels}), JoinFuzzParts({GzipCompress(images), labels}),
          JoinFuzzParts({images, GzipCompress(floats)}), JoinFuzzParts({floats, labels}),
          JoinFuzzParts({colours, labels})};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parts = taas::FuzzParts(taas::FuzzText(data, size), 2);
  taas::MemoryFiles files({{"/x", std::string(parts[0])}, {"/y", std::string(parts[1])}});
  (void)taas::ReadLabelledIdx(files, "/x", "/y", {});
  return 0;
}
