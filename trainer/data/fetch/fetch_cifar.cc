#include "trainer/data/fetch/fetch_cifar.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "operator/base/status.h"
#include "trainer/data/cifar.h"
#include "trainer/data/fetch/tar.h"
#include "trainer/data/generated/generated.h"
#include "trainer/data/gzip.h"

namespace taas {
namespace {

constexpr int kParts = 5;
constexpr char kTestFile[] = "test_batch.bin";
constexpr uint64_t kSeed = 1;
// Enough for a small network to learn the ten waves.
constexpr int64_t kDrawnInPart = 800, kDrawnTest = 500;
constexpr int32_t kClasses = 10;
// Of a byte: waves go from -1 to 1, with noise around that.
constexpr float kMiddle = 128, kAmplitude = 48;

std::vector<std::string> FileNames() {
  std::vector<std::string> names;
  for (int part = 1; part <= kParts; ++part) {
    names.push_back("data_batch_" + std::to_string(part) + ".bin");
  }
  names.push_back(kTestFile);
  return names;
}

// Examples [first, first + count) as records: a label, then the planes of the three channels.
std::string DrawRecords(int64_t first, int64_t count) {
  const int64_t pixels = kCifarImage.pixels();
  const int64_t plane = pixels / kCifarImage.channels;
  const Dataset set = GenerateWaves({.seed = kSeed,
                                     .first = first,
                                     .examples = count,
                                     .features = pixels,
                                     .classes = kClasses,
                                     .image = kCifarImage});
  std::vector<float> values(static_cast<size_t>(pixels));
  std::string records;
  for (int64_t i = 0; i < count; ++i) {
    set.GatherFeatures(std::span(&i, 1), values.data());
    records += static_cast<char>(set.labels()[static_cast<size_t>(i)]);
    for (int64_t channel = 0; channel < kCifarImage.channels; ++channel) {
      for (int64_t at = 0; at < plane; ++at) {
        const float value = values[static_cast<size_t>(at * kCifarImage.channels + channel)];
        const float byte = std::clamp(std::round(kMiddle + kAmplitude * value), 0.f, 255.f);
        records += static_cast<char>(static_cast<uint8_t>(byte));
      }
    }
  }
  return records;
}

FolderContent Draw() {
  FolderContent content{.files = {},
                        .source = "drawn pictures (no CIFAR-10): " +
                                  std::to_string(kParts * kDrawnInPart) + " to train, " +
                                  std::to_string(kDrawnTest) + " to test, seed " +
                                  std::to_string(kSeed)};
  int64_t first = 0;
  for (const std::string& name : FileNames()) {
    const int64_t count = name == kTestFile ? kDrawnTest : kDrawnInPart;
    content.files.emplace_back(name, DrawRecords(first, count));
    first += count;
  }
  return content;
}

}  // namespace

absl::StatusOr<FolderContent> UnpackCifar10(FileSystem& files, const std::string& folder,
                                            const std::string& archive) {
  const std::string packed = folder + "/.cifar-10.tar.gz";
  RETURN_IF_ERROR(files.WriteAtomically(packed, archive));
  const absl::StatusOr<std::string> tar = GunzipFile(files, packed);
  RETURN_IF_ERROR(files.Remove(packed));
  if (!tar.ok()) return tar.status();
  ASSIGN_OR_RETURN(const std::vector<TarFile> members, ReadTar(*tar));
  FolderContent content;
  for (const std::string& name : FileNames()) {
    const auto member = std::ranges::find_if(
        members, [&](const TarFile& file) { return file.name.ends_with("/" + name); });
    if (member == members.end()) {
      return absl::DataLossError("unpack CIFAR-10: the archive has no " + name);
    }
    content.files.emplace_back(name, std::string(member->content));
  }
  return content;
}

absl::StatusOr<Fetched> FetchCifar10(FileSystem& files, const FetchOptions& options) {
  return FetchSet(
      files, options,
      {.name = "CIFAR-10",
       .files = FileNames(),
       .mirrors = {"https://www.cs.toronto.edu/~kriz/"},
       .published = {"cifar-10-binary.tar.gz",
                     "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"},
       .unpack =
           [&](const std::string& archive) {
             return UnpackCifar10(files, options.target, archive);
           },
       .make = Draw});
}

}  // namespace taas
