#include "operator/base/closest_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace taas {
namespace {

// A name of so many letters may have one wrong letter more: beyond a third of them it is another
// word.
constexpr size_t kLettersPerMistake = 3;
constexpr size_t kMistakesMax = 3;
// Longer names are nobody's typing mistake, and comparing takes the product of both lengths.
constexpr size_t kNameLengthMax = 128;
// What is shorter begins too many names.
constexpr size_t kPrefixLengthMin = 3;

std::string Lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Letters to leave out, add, change, or swap with the next one.
size_t Mistakes(const std::string& a, const std::string& b) {
  // Rows of the usual table: the two before, this one.
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::vector<size_t> before;
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> ClosestName(std::string_view name,
                                       const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kNameLengthMax) return std::nullopt;
  const std::string written = Lowered(name);
  std::optional<std::string> closest;
  size_t fewest = kMistakesMax + 1;
  std::optional<std::string> longer;
  int begun = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > kNameLengthMax) continue;
    const std::string meant = Lowered(candidate);
    const size_t letters = std::min(written.size(), meant.size());
    const size_t allowed =
        std::clamp(letters / kLettersPerMistake, size_t{1}, kMistakesMax);
    const size_t mistakes = Mistakes(written, meant);
    // All letters of a short name could be wrong: "a" is no mistake for "b".
    if (mistakes <= allowed && mistakes < std::max(written.size(), meant.size()) &&
        mistakes < fewest) {
      fewest = mistakes;
      closest = candidate;
    }
    if (written.size() >= kPrefixLengthMin && meant.starts_with(written)) {
      longer = candidate;
      ++begun;
    }
  }
  if (closest.has_value()) return closest;
  return begun == 1 ? longer : std::nullopt;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::optional<std::string> closest = ClosestName(name, candidates);
  return closest.has_value() ? "did you mean \"" + *closest + "\"?" : "";
}

}  // namespace taas
