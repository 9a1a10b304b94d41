// The rows of a gradient that a replica pushes: heads, ids and how much follows.

#include <cstring>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "tools/fuzz/target.h"
#include "trainer/ps/row_payload.h"

namespace taas::ps {
namespace {

constexpr size_t kElements[] = {12, 8, size_t{1} << 40};

// As many of T as the text has whole ones.
template <typename T>
std::vector<T> NumbersOf(std::string_view text) {
  std::vector<T> numbers(text.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), text.data(), numbers.size() * sizeof(T));
  return numbers;
}

void Check(std::string_view heads_text, std::string_view ids_text, uint64_t payload_bytes) {
  const std::vector<RowHead> heads = NumbersOf<RowHead>(heads_text);
  if (heads.size() != std::size(kElements)) return;
  const auto sizes = SizesOf(heads, kElements, payload_bytes);
  if (!sizes.ok()) return;
  CHECK(sizes->ids <= payload_bytes / sizeof(int32_t)) << "ids beyond the payload";
  CHECK(sizes->values <= payload_bytes / sizeof(float)) << "values beyond the payload";
  std::vector<int32_t> ids = NumbersOf<int32_t>(ids_text);
  if (sizes->ids > ids.size()) return;
  ids.resize(sizes->ids);
  if (!CheckIds(heads, kElements, ids).ok() || sizes->values > (1 << 20)) return;
  const RowContents contents{heads, ids, std::vector<float>(sizes->values)};
  for (const PieceGradient& piece : PiecesOf(contents, kElements)) (void)piece;
}

}  // namespace
}  // namespace taas::ps

namespace taas {

std::vector<std::string> FuzzSeeds() {
  const auto text = [](std::vector<uint32_t> numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size());
  };
  // Two rows of four of the first piece, all of the second, none of the third.
  const std::string heads = text({2, 4, 8, 0, 0, 1});
  const uint64_t bytes = 24 + 8 + 64;
  const std::string size(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  return {JoinFuzzParts({size, heads, text({0, 2})}), JoinFuzzParts({size, heads, text({2, 0})})};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parts = taas::FuzzParts(taas::FuzzText(data, size), 3);
  uint64_t bytes = 0;
  const size_t given = std::min(parts[0].size(), sizeof(bytes));
  if (given > 0) std::memcpy(&bytes, parts[0].data(), given);
  taas::ps::Check(parts[1], parts[2], bytes);
  return 0;
}
