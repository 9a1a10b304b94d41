#include "trainer/kernels/cuda/images.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/kernels.h"

namespace taas::cuda {
namespace {

// What NVIDIA does not document of a fatbin, as nvcc 13.0 writes it: a header, then for each
// architecture an entry's header and the code, both with their lengths.
struct Header {
  uint32_t magic;
  uint16_t version, bytes;
  uint64_t bytes_behind;
};
struct Entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t code_bytes;
  uint32_t not_looked_at[3];
  uint32_t architecture;
};
constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint16_t kPtx = 1, kMachineCode = 2;

template <typename T>
T At(std::span<const std::byte> bytes, size_t offset) {
  T value{};
  if (offset + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// "sm_80", "compute_90"
std::multiset<std::string> CodeIn(std::span<const std::byte> fatbin) {
  std::multiset<std::string> code;
  const auto header = At<Header>(fatbin, 0);
  for (size_t at = header.bytes; at < header.bytes + header.bytes_behind;) {
    const auto entry = At<Entry>(fatbin, at);
    if (entry.header_bytes == 0) break;
    const char* const kind =
        entry.kind == kMachineCode ? "sm_" : entry.kind == kPtx ? "compute_" : "unknown ";
    code.insert(kind + std::to_string(entry.architecture));
    at += entry.header_bytes + entry.code_bytes;
  }
  return code;
}

TEST(ImagesTest, EachImageHasCodeForA100sAndH100sAndPtxForLaterGpus) {
  ASSERT_FALSE(KernelImages().empty());
  for (const KernelImage& image : KernelImages()) {
    EXPECT_EQ(At<Header>(image.fatbin, 0).magic, kMagic) << image.file;
    EXPECT_EQ(CodeIn(image.fatbin), (std::multiset<std::string>{"compute_90", "sm_80", "sm_90"}))
        << image.file;
  }
}

TEST(ImagesTest, EachImageIsAlignedAndWhole) {
  for (const KernelImage& image : KernelImages()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(image.fatbin.data()) % 16, 0u) << image.file;
    const auto header = At<Header>(image.fatbin, 0);
    EXPECT_EQ(header.bytes + header.bytes_behind, image.fatbin.size()) << image.file;
  }
}

TEST(ImagesTest, EveryKernelOfTheListIsInOneImage) {
  for (const KernelInfo& kernel : kKernels) {
    const std::string name = std::string(".text.") + kernel.name;
    int images = 0;
    for (const KernelImage& image : KernelImages()) {
      const std::string_view bytes(reinterpret_cast<const char*>(image.fatbin.data()),
                                   image.fatbin.size());
      images += bytes.find(name) != bytes.npos;
    }
    EXPECT_EQ(images, 1) << kernel.name;
  }
}

TEST(ImagesTest, FilesAreSortedAndEachIsThereOnce) {
  std::string_view before;
  for (const KernelImage& image : KernelImages()) {
    EXPECT_LT(before, image.file);
    EXPECT_TRUE(image.file.ends_with(".cu")) << image.file;
    before = image.file;
  }
}

}  // namespace
}  // namespace taas::cuda
