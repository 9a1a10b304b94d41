#include "trainer/ps/layout.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace taas::ps {

int64_t Layout::elements(int shard) const {
  int64_t sum = 0;
  for (const Piece& piece : shards[static_cast<size_t>(shard)]) sum += piece.count;
  return sum;
}

Layout SplitByBytes(const std::vector<VariableSize>& variables, int shards) {
  Layout layout;
  layout.shards.resize(static_cast<size_t>(shards));
  std::vector<int64_t> load(static_cast<size_t>(shards), 0);
  int64_t total = 0;
  for (const VariableSize& variable : variables) total += variable.elements;
  const int64_t fair = (total + shards - 1) / shards;
  const int64_t cut_above = std::max<int64_t>(fair / kCutShare,
                                              kCutBytesMin / static_cast<int64_t>(sizeof(float)));

  std::vector<int> order(variables.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return variables[static_cast<size_t>(a)].elements > variables[static_cast<size_t>(b)].elements;
  });
  for (const int index : order) {
    const VariableSize& variable = variables[static_cast<size_t>(index)];
    if (variable.elements == 0) continue;
    if (shards > 1 && variable.elements > cut_above && variable.rows >= shards) {
      const int64_t row = variable.elements / variable.rows;
      for (int shard = 0; shard < shards; ++shard) {
        const int64_t first = variable.rows * shard / shards;
        const int64_t last = variable.rows * (shard + 1) / shards;
        layout.shards[static_cast<size_t>(shard)].push_back(
            {index, first * row, (last - first) * row, variable.decay});
        load[static_cast<size_t>(shard)] += (last - first) * row;
      }
      continue;
    }
    const auto least = std::min_element(load.begin(), load.end());
    layout.shards[static_cast<size_t>(least - load.begin())].push_back(
        {index, 0, variable.elements, variable.decay});
    *least += variable.elements;
  }
  for (std::vector<Piece>& pieces : layout.shards) {
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return std::make_tuple(a.decay.has_value(), a.variable, a.offset) <
             std::make_tuple(b.decay.has_value(), b.variable, b.offset);
    });
  }
  return layout;
}

}  // namespace taas::ps
