// A checkpoint: its index and its data file, as they are; and an index whose blocks have right
// checksums whatever is in them.

#include <array>
#include <string>
#include <vector>

#include "operator/base/crc32c.h"
#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/checkpoint/sorted_table.h"
#include "trainer/formats/tensor_bundle.pb.h"

namespace taas {
namespace {

void ReadAll(const std::string& index, const std::string& data) {
  MemoryFiles files({{"/m.index", index}, {"/m.data-00000-of-00001", data}});
  const auto reader = BundleReader::Open(files, "/m");
  if (!reader.ok()) return;
  (void)(*reader)->VerifyAll();
  std::array<float, 4> floats{};
  for (const auto& [name, entry] : (*reader)->entries()) {
    (void)(*reader)->Read(name);
    (void)(*reader)->ReadInt64(name);
    (void)(*reader)->ReadFloats(name, entry.shape, floats);
  }
  (void)(*reader)->CheckVariables({{"w", ElementType::kFloat32, {2, 2}}});
}

// Two blocks, each behind its kind, then the handles of the footer.
std::string Table(const std::vector<std::string_view>& parts) {
  std::string file;
  for (const std::string_view block : {parts[0], parts[1]}) {
    if (block.empty()) continue;
    const std::string checked = std::string(block.substr(1)) + block[0];
    const uint32_t crc = MaskedCrc32c(checked);
    file += checked + std::string(reinterpret_cast<const char*>(&crc), sizeof(crc));
  }
  std::string footer(parts[2].substr(0, 40));
  footer.resize(40);
  return file + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
}

std::string GoodIndex(TableCompression compression) {
  formats::BundleHeader header;
  header.set_num_shards(1);
  formats::BundleEntry entry, texts;
  entry.set_dtype(1);
  entry.mutable_shape()->add_dim()->set_size(2);
  entry.mutable_shape()->add_dim()->set_size(2);
  entry.set_size(16);
  texts.set_dtype(7);
  texts.set_offset(4);
  texts.set_size(9);
  return EncodeSortedTable({{"", header.SerializeAsString()},
                            {"w", entry.SerializeAsString()},
                            {"t", texts.SerializeAsString()}},
                           compression);
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const std::string data(16, '\1');
  using std::literals::string_literals::operator""s;
  // "" and "w", each of one entry's bytes; the index of one block of 22 bytes from byte 0 on.
  const std::string block = "\0\0\0\2\x08\1\0\1\6w\x08\1\x12\0\x28\4\0\0\0\0\1\0\0\0"s;
  const std::string index = "\0\0\1\2z\0\x17\0\0\0\0\1\0\0\0"s;
  return {JoinFuzzParts({GoodIndex(TableCompression::kNone), "", "", data}),
          JoinFuzzParts({GoodIndex(TableCompression::kSnappy), "", "", data}),
          JoinFuzzParts({block, index, "\0\0\x1c\x0e"s, data})};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parts = taas::FuzzParts(taas::FuzzText(data, size), 4);
  taas::ReadAll(std::string(parts[0]), std::string(parts[3]));
  taas::ReadAll(taas::Table(parts), std::string(parts[3]));
  return 0;
}
