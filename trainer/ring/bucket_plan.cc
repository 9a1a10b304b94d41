#include "trainer/ring/bucket_plan.h"

#include "operator/base/hash.h"

namespace taas {
namespace {

// Of a line that is sent and logged; the hash tells the rest apart.
constexpr size_t kListedMax = 8;

// Those that are listed; `all` has names and shapes of all.
std::string NamesOf(std::span<const OrderedGradient> order,
                    const std::vector<VariableInfo>& variables, std::string* all) {
  std::string names;
  for (size_t i = 0; i < order.size(); ++i) {
    const VariableInfo& variable = variables[order[i].variable];
    *all += variable.name + variable.shape.ToString() + ";";
    if (i < kListedMax) names += (i == 0 ? "" : ", ") + variable.name;
  }
  return order.size() > kListedMax ? names + ", …" : names;
}

}  // namespace

std::vector<Bucket> PlanBuckets(std::span<const OrderedGradient> order,
                                const BucketLimits& limits) {
  std::vector<Bucket> buckets;
  size_t begin = 0;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    // What one step finishes goes together, and so does what is too little.
    const bool alone = order[i].done < order[i + 1].done;
    if (!alone || order[i].end - begin < limits.elements_min) continue;
    if (1 - order[i].done < limits.beside_min) break;
    buckets.push_back({.gradients = i + 1, .elements = order[i].end});
    begin = order[i].end;
  }
  buckets.push_back({.gradients = order.size(), .elements = order.empty() ? 0 : order.back().end});
  return buckets;
}

std::string BucketTerms(const std::vector<Bucket>& buckets,
                        std::span<const OrderedGradient> order,
                        const std::vector<VariableInfo>& variables) {
  std::string sizes, all;
  size_t begin = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const std::string size = std::to_string(buckets[i].elements - begin);
    all += size + ";";
    if (i < kListedMax) sizes += (i == 0 ? "" : ", ") + size;
    begin = buckets[i].elements;
  }
  if (buckets.size() > kListedMax) sizes += ", …";
  const size_t dense = buckets.back().gradients;
  const std::string whole = NamesOf(order.first(dense), variables, &all);
  all += "rows;";
  const std::string tables = NamesOf(order.subspan(dense), variables, &all);
  return "buckets of " + sizes + " elements for the gradients of " +
         (whole.empty() ? "nothing" : whole) + (tables.empty() ? "" : ", and rows of " + tables) +
         " (" + HexOf(StableHash(all)) + ")";
}

}  // namespace taas
