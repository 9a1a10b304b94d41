// What an op costs: the bound that benchmarks compare with.

#ifndef TRAINER_GRAPH_OP_COST_H_
#define TRAINER_GRAPH_OP_COST_H_

namespace taas {

// Of one run, when nothing is cached.
struct OpCost {
  double flops = 0;
  double bytes = 0;  // Read and written.
};

}  // namespace taas

#endif  // TRAINER_GRAPH_OP_COST_H_
