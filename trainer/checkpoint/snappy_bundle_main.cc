// Writes a checkpoint with a compressed index and the same one without, so that a test can let
// TensorFlow load both.
//
//   snappy_bundle COMPRESSED-PREFIX PLAIN-PREFIX

#include <array>
#include <string>

#include "operator/base/check.h"
#include "operator/base/file_system.h"
#include "trainer/checkpoint/bundle_writer.h"

namespace taas {
namespace {

// Names that have much in common, and more of them than one restart of a block holds.
constexpr int kTensors = 200;

void Write(const std::string& prefix, bool snappy) {
  PosixFileSystem files;
  auto writer = BundleWriter::Open(files, prefix, {.shards = 2, .snappy_index = snappy});
  CHECK(writer.ok()) << writer.status().ToString();
  for (int i = 0; i < kTensors; ++i) {
    const std::array<float, 3> values = {static_cast<float>(i), 0.5f, static_cast<float>(-i)};
    const std::string name = "layer" + std::to_string(i) + "/weights";
    CHECK((*writer)->Add(FloatTensor(name, {3, 1}, values), /*shard=*/i % 2).ok());
  }
  const TensorValue words = StringTensor("words", {2}, {"", "zwei \u00fc"});
  CHECK((*writer)->Add(words.View()).ok());
  CHECK((*writer)->Finish().ok());
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  CHECK(argc == 3);
  taas::Write(argv[1], /*snappy=*/true);
  taas::Write(argv[2], /*snappy=*/false);
}
