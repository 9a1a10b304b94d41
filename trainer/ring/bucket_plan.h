// Which gradients ranks exchange together: buckets of them in the order in which a backward pass
// finishes them (Li et al. 2020, "PyTorch Distributed"), so that all but the last can be exchanged
// while the rest is computed.
//
// The plan follows from the graph alone, so all ranks of a model have the same one. A gradient is
// in one bucket whole. Tables whose gradients list rows are in none, and lie behind all others:
// what of them is exchanged is decided in each step (table_rows.h).
//
// Pure. Ownership: values. Threads: any. Errors: none.
//
//   const std::vector<Bucket> buckets = PlanBuckets(order);   // of session.gradient_order()
//   meeting.SetTerms(BucketTerms(buckets, session.gradient_order(), session.variables()));

#ifndef TRAINER_RING_BUCKET_PLAN_H_
#define TRAINER_RING_BUCKET_PLAN_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "trainer/graph/session.h"

namespace taas {

// 1 MiB. However small it is, a ring's exchange takes 2(n-1) messages one after the other: 50 us
// among four processes of one machine (docs/benchmarks.md), where 1 MiB takes a millisecond. So
// buckets cost a twentieth at most. A model that is smaller has one, and is exchanged after its
// backward pass.
constexpr size_t kBucketElementsMin = size_t{256} << 10;
// A bucket beside which nothing is computed hides nothing, and costs its messages: behind the end
// of each but the last there is at least so much of the work of a step.
constexpr double kBesideMin = 0.05;

struct BucketLimits {
  size_t elements_min = kBucketElementsMin;
  double beside_min = kBesideMin;
};

struct Bucket {
  // Both up to its end, of all: gradients in their order, and elements of the arena.
  size_t gradients = 0;
  size_t elements = 0;

  bool operator==(const Bucket&) const = default;
};

// At least one; the last ends with `order`, which has no tables.
std::vector<Bucket> PlanBuckets(std::span<const OrderedGradient> order,
                                const BucketLimits& limits = {});

// What ranks that exchange by it must agree on, in one line: "buckets of 262208, 1024 elements for
// the gradients of w2, b2, w1, and rows of table (9c81…)". Ranks with the same line have the same
// buckets, and in them gradients of the same names and shapes in the same order; what of `order`
// lies behind the last bucket are tables.
std::string BucketTerms(const std::vector<Bucket>& buckets,
                        std::span<const OrderedGradient> order,
                        const std::vector<VariableInfo>& variables);

}  // namespace taas

#endif  // TRAINER_RING_BUCKET_PLAN_H_
