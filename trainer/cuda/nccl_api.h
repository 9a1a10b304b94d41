// The functions and numbers of NCCL that are used, as its header nccl.h has them: releases 2.20 and
// later of libnccl.so.2, whose interface only grows.
//
// Declared here, since the header comes with the library only. Handles are pointers to what is the
// library's, results ncclResult_t as numbers, streams those of the driver.
//
// Ownership: none. Threads: calls with one communicator are one at a time, but for CommAbort.
// Errors: numbers, which Nccl::Check puts into words.

#ifndef TRAINER_CUDA_NCCL_API_H_
#define TRAINER_CUDA_NCCL_API_H_

#include <climits>
#include <cstddef>

#include "trainer/cuda/driver_api.h"

namespace taas::cuda {

using NcclComm = struct NcclCommOf*;

// ncclUniqueId: given by value.
struct NcclId {
  char internal[128];
};

// ncclResult_t, as far as one is told from another.
inline constexpr int kNcclSuccess = 0, kNcclUnhandledCudaError = 1, kNcclSystemError = 2,
                     kNcclInvalidArgument = 4, kNcclInvalidUsage = 5, kNcclInProgress = 7;
// ncclDataType_t, ncclRedOp_t.
inline constexpr int kNcclFloat32 = 7, kNcclBFloat16 = 9;
inline constexpr int kNcclAvg = 4;

// NCCL_VERSION(major, minor, patch), of releases since 2.9.
constexpr int NcclVersion(int major, int minor, int patch) {
  return 10'000 * major + 100 * minor + patch;
}

// NCCL_CONFIG_UNDEF_INT: as the library wants it.
inline constexpr int kNcclUndefined = INT_MIN;

// ncclConfig_t as of 2.20. A later library knows by `size` and `version` what it does not have.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = NcclVersion(2, 20, 0);
  int blocking = kNcclUndefined;
  int cga_cluster_size = kNcclUndefined;
  int ctas_min = kNcclUndefined;
  int ctas_max = kNcclUndefined;
  const char* net_name = nullptr;
  int split_share = kNcclUndefined;
};
static_assert(sizeof(NcclConfig) == 48 && offsetof(NcclConfig, blocking) == 16 &&
              offsetof(NcclConfig, net_name) == 32);

struct NcclApi {
  int (*GetVersion)(int* version);
  const char* (*GetErrorString)(int result);
  // Of the last error in this process; `comm` is not used.
  const char* (*GetLastError)(NcclComm comm);
  int (*GetUniqueId)(NcclId* id);
  // For the device whose context is current. In a group of all ranks, if one thread makes them.
  int (*CommInitRankConfig)(NcclComm* comm, int ranks, NcclId id, int rank, NcclConfig* config);
  // kNcclInProgress until what was asked of a communicator that does not block has been done, or
  // is in its stream; until then nothing else may be asked of it, nor go into that stream.
  int (*CommGetAsyncError)(NcclComm comm, int* state);
  int (*CommFinalize)(NcclComm comm);
  // Waits for graphs that were captured with it: they go first.
  int (*CommDestroy)(NcclComm comm);
  // Also while another thread waits for what it does; frees it.
  int (*CommAbort)(NcclComm comm);
  int (*GroupStart)();
  int (*GroupEnd)();
  int (*AllReduce)(const void* from, void* to, size_t count, int type, int operation,
                   NcclComm comm, CuStream stream);
  int (*Broadcast)(const void* from, void* to, size_t count, int type, int root, NcclComm comm,
                   CuStream stream);
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_NCCL_API_H_
