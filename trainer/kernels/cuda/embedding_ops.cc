#include "trainer/kernels/cuda/embedding_ops.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

absl::StatusOr<Kernel> Embedding(const KernelSpec& spec) {
  const Rows table = RowsOf(spec.inputs[0].shape);
  const int64_t count = spec.inputs[1].shape.count();
  Grid grid = ForTeams(count, kWarpsOfBlock);
  grid.x += 1;  // It looks at the ids.
  return Kernel{.run = [=](const KernelCall& call) {
    return Launch(call, kEmbeddingKernel, grid,
                  {.table = call.in(0),
                   .ids = call.in_int64(1),
                   .y = call.out(),
                   .count = count,
                   .rows = table.rows,
                   .width = table.columns,
                   .by_fours = table.columns % 4 == 0 && ByFours({call.in(0), call.out()}),
                   .report = {call.block, call.index}});
  }};
}

// How the rows of a table's gradient are made: memory and launches.
struct RowSums {
  Lookups lookups;

  // Two arrays of uses, from one to the other; where each row's begin; how many begin in each tile;
  // and of what has no outputs for them, the rows and their number.
  size_t ids() const { return static_cast<size_t>(lookups.count); }
  size_t begins_at() const { return 2 * ids() * sizeof(RowUse); }
  size_t tiles_at() const { return begins_at() + (ids() + 1) * sizeof(int32_t); }
  size_t rows_at() const { return tiles_at() + tiles().x * sizeof(int32_t); }
  size_t bytes() const { return rows_at() + (ids() + 1) * sizeof(int32_t); }

  // One of no ids, too.
  Grid tiles() const { return ForTeams(std::max<int64_t>(1, lookups.count), kBlockThreads); }
  Grid grid() const {
    const int64_t parts = (lookups.width + kWarpThreads - 1) / kWarpThreads;
    Grid grid = ForTeams(std::min(lookups.count, lookups.rows) * parts, kWarpsOfBlock);
    grid.x = std::min(grid.x, static_cast<unsigned>(kRoundBlocksMax));
    return grid;
  }
  // Into a table whose rows that are not listed are zero.
  absl::Status Run(const KernelCall& call, int32_t* rows, int32_t* rows_count) const;
};

absl::Status RowSums::Run(const KernelCall& call, int32_t* rows, int32_t* rows_count) const {
  auto* const scratch = static_cast<std::byte*>(call.scratch);
  auto* uses = reinterpret_cast<RowUse*>(scratch);
  RowUse* other = uses + lookups.count;
  auto* const begins = reinterpret_cast<int32_t*>(scratch + begins_at());
  TileUsesParams tiles{.lookups = lookups, .uses = uses, .report = {call.block, call.index}};
  bool by_fours = lookups.width % 4 == 0 && ByFours({call.out(0)});
  for (int i = 0; i < lookups.lookups_count; ++i) {
    const auto at = 2 * static_cast<size_t>(i);
    by_fours = by_fours && ByFours({call.in(at)});
    tiles.lookups.lookups[i].dy = call.in(at);
    tiles.lookups.lookups[i].ids = call.in_int64(at + 1);
  }
  Grid grid = ForTeams(lookups.count, kTileUses);
  grid.x += 1;  // It looks at the ids.
  RETURN_IF_ERROR(Launch(call, kTileUsesKernel, grid, tiles));
  for (int64_t run = kTileUses; run < lookups.count; run *= 2) {
    RETURN_IF_ERROR(Launch(call, kMergeUsesKernel, ForElements(lookups.count),
                           {.from = uses, .to = other, .count = lookups.count, .run = run}));
    std::swap(uses, other);
  }
  auto* const rows_of_tiles = reinterpret_cast<int32_t*>(scratch + tiles_at());
  RETURN_IF_ERROR(
      Launch(call, kCountRowsKernel, this->tiles(),
             {.uses = uses, .rows_of_tiles = rows_of_tiles, .count = lookups.count}));
  RETURN_IF_ERROR(Launch(call, kListRowsKernel, this->tiles(),
                         {.uses = uses,
                          .rows_of_tiles = rows_of_tiles,
                          .rows = rows,
                          .rows_count = rows_count,
                          .begins = begins,
                          .count = lookups.count}));
  return Launch(call, kAddRowsKernel, this->grid(),
                {.lookups = tiles.lookups,
                 .uses = uses,
                 .rows = rows,
                 .rows_count = rows_count,
                 .begins = begins,
                 .table = call.out(0),
                 .by_fours = by_fours});
}

absl::StatusOr<RowSums> RowSumsOf(const KernelSpec& spec) {
  const Rows table = RowsOf(spec.outputs[0].shape);
  const int64_t lookups = static_cast<int64_t>(spec.inputs.size()) / 2;
  if (lookups > Lookups::kMax) {
    return absl::InvalidArgumentError("a table is looked up in " + std::to_string(lookups) +
                                      " times, on a GPU at most " +
                                      std::to_string(Lookups::kMax));
  }
  RowSums sums{.lookups = {.lookups_count = static_cast<int>(lookups),
                           .rows = table.rows,
                           .width = table.columns}};
  for (int i = 0; i < sums.lookups.lookups_count; ++i) {
    sums.lookups.lookups[i].first = sums.lookups.count;
    sums.lookups.count += spec.inputs[2 * static_cast<size_t>(i) + 1].shape.count();
  }
  // Positions and places in the list of uses have 32 bits.
  if (sums.lookups.count <= std::numeric_limits<int32_t>::max()) return sums;
  return absl::InvalidArgumentError("a table is looked up in for more ids than 32 bits count");
}

absl::StatusOr<Kernel> EmbeddingGrad(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const RowSums sums, RowSumsOf(spec));
  const size_t bytes = static_cast<size_t>(spec.outputs[0].shape.count()) * sizeof(float);
  const auto run = [sums, bytes](const KernelCall& call) -> absl::Status {
    if (bytes > 0) {
      RETURN_IF_ERROR(StreamOf(call).Zero(call.out(), bytes));
    }
    auto* const rows = reinterpret_cast<int32_t*>(static_cast<std::byte*>(call.scratch) +
                                                  sums.rows_at());
    return sums.Run(call, rows + 1, rows);
  };
  return Kernel{.run = run, .scratch_bytes = sums.bytes()};
}

// The outputs stay as they are from step to step: what the step before has listed is cleared.
absl::StatusOr<Kernel> EmbeddingRowsGrad(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const RowSums sums, RowSumsOf(spec));
  const auto run = [sums](const KernelCall& call) -> absl::Status {
    RETURN_IF_ERROR(Launch(call, kClearRowsKernel, sums.grid(),
                           {.table = call.out(0),
                            .rows = call.out_int32(1),
                            .rows_count = call.out_int32(2),
                            .width = sums.lookups.width}));
    return sums.Run(call, call.out_int32(1), call.out_int32(2));
  };
  return Kernel{.run = run, .scratch_bytes = sums.bytes()};
}

}  // namespace

void AddEmbeddingKernels(KernelRegistry* kernels) {
  kernels->Add("Embedding", kGpu, DType::kFloat32, Embedding);
  kernels->Add("EmbeddingGrad", kGpu, DType::kFloat32, EmbeddingGrad);
  kernels->Add("EmbeddingRowsGrad", kGpu, DType::kFloat32, EmbeddingRowsGrad);
}

}  // namespace taas::cuda
