// Stands for NCCL on machines without it, for communicators that do not block: sums by ranks in
// their order, in the streams of the driver that stands for NVIDIA's, once all ranks have come to
// them. It refuses ranks that are not each there once, on a device each; calls before the one
// before has settled, which takes some looks at CommGetAsyncError, and is in no stream until then;
// and to destroy what a graph was captured with, for which the real one waits without end. Ranks
// that ask for different things end as kernels do that fail.

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "trainer/cuda/fake/fake_control.h"
#include "trainer/cuda/fake/fake_machine.h"
#include "trainer/cuda/nccl_api.h"

namespace taas::cuda::fake {
namespace {

// Looks until what was asked for is done: a caller that does not look does not get it.
constexpr int kLooks = 2;

struct Operation {
  bool broadcasts = false;
  const float* from = nullptr;
  float* to = nullptr;
  size_t count = 0;
  int root = 0;  // Of a broadcast.

  bool Matches(const Operation& other) const {
    return broadcasts == other.broadcasts && count == other.count && root == other.root;
  }
};
using Operations = std::shared_ptr<const std::vector<Operation>>;

// The ranks that were made with one id.
struct Clique {
  explicit Clique(int ranks) : members(static_cast<size_t>(ranks)), arrived(members.size()),
                               ended(members.size()) {}
  bool complete() const {
    return std::ranges::none_of(members, [](const void* member) { return member == nullptr; });
  }

  std::mutex mutex;
  std::vector<struct Comm*> members;
  std::vector<Operations> arrived;  // What each rank has come to.
  std::vector<bool> ended;          // Whether it has been done for a rank that has not seen it.
  int result = kCuSuccess;
};

struct Comm {
  std::shared_ptr<Clique> clique;
  size_t rank = 0;
  int device = 0;
  CuStream stream = nullptr;
  std::vector<Operation> asked;  // Not yet in its stream.
  int looks = 0;
  int state = kNcclSuccess;
  bool aborted = false;
};

struct State {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Clique>> cliques;  // By id.
  std::map<const Comm*, std::shared_ptr<Comm>> comms;
  int ids = 0;
};

State& Its() {
  static State* const kState = std::make_unique<State>().release();
  return *kState;
}

// What a thread has begun by GroupStart.
struct Group {
  int depth = 0;
  int error = kNcclSuccess;
  struct Init {
    NcclComm* comm;
    NcclId id;
    int ranks, rank, device;
  };
  std::vector<Init> inits;
  std::vector<std::pair<std::shared_ptr<Comm>, Operation>> operations;
  std::vector<CuStream> streams;  // Of the operations.
};
thread_local Group group;

template <typename Function>
Function* Driver(const char* name) {
  return reinterpret_cast<Function*>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY), name));
}
#define DRIVER(function) Driver<decltype(function)>(#function)

// What a test has asked of this call.
int Asked(const char* function) { return DRIVER(FakeCudaCount)(function); }

std::shared_ptr<Comm> Find(NcclComm comm) {
  const std::lock_guard lock(Its().mutex);
  const auto found = Its().comms.find(reinterpret_cast<const Comm*>(comm));
  return found == Its().comms.end() ? nullptr : found->second;
}

int Say(int result, const std::string& what) {
  std::fprintf(stderr, "the NCCL that is not there: %s\n", what.c_str());
  return result;
}

// Of all ranks, when the last of them has come.
int Compute(const Clique& clique) {
  const size_t ranks = clique.members.size();
  const std::vector<Operation>& first = *clique.arrived[0];
  const auto matches = [](const Operation& a, const Operation& b) { return a.Matches(b); };
  for (const Operations& of : clique.arrived) {
    if (!std::ranges::equal(*of, first, matches)) {
      return Say(kCuLaunchFailed, "ranks ask for different things");
    }
  }
  const float share = 1.0f / static_cast<float>(ranks);
  for (size_t at = 0; at < first.size(); ++at) {
    const auto of = [&](size_t rank) -> const Operation& { return (*clique.arrived[rank])[at]; };
    for (size_t i = 0; i < first[at].count; ++i) {
      float value = first[at].broadcasts ? of(static_cast<size_t>(first[at].root)).from[i]
                                         : of(0).from[i] * share;
      for (size_t rank = 1; rank < ranks && !first[at].broadcasts; ++rank) {
        value += of(rank).from[i] * share;
      }
      for (size_t rank = 0; rank < ranks; ++rank) of(rank).to[i] = value;
    }
  }
  return kCuSuccess;
}

// A rank in its stream.
class Visit {
 public:
  Visit(std::shared_ptr<Comm> comm, Operations operations)
      : comm_(std::move(comm)), operations_(std::move(operations)) {}

  int operator()() {
    Clique& clique = *comm_->clique;
    const std::lock_guard lock(clique.mutex);
    if (comm_->aborted) return kCuSuccess;
    if (!came_) {
      came_ = true;
      const int wanted = Asked(("collective@" + std::to_string(comm_->rank)).c_str());
      stays_away_ = wanted == kNeverEnds;
      if (wanted != kCuSuccess && !stays_away_) return wanted;
      for (const Operation& operation : *operations_) {
        const size_t bytes = operation.count * sizeof(float);
        const auto contains = DRIVER(FakeCudaContains);
        if (!contains(comm_->device, operation.from, bytes) ||
            !contains(comm_->device, operation.to, bytes)) {
          return kCuIllegalAddress;
        }
      }
      if (!stays_away_) clique.arrived[comm_->rank] = operations_;
    }
    if (stays_away_) return kNotYet;
    if (!clique.ended[comm_->rank]) {
      if (std::ranges::count(clique.arrived, nullptr) > 0) return kNotYet;
      clique.result = Compute(clique);
      std::ranges::fill(clique.arrived, nullptr);
      clique.ended.assign(clique.ended.size(), true);
    }
    clique.ended[comm_->rank] = false;
    return clique.result;
  }

 private:
  const std::shared_ptr<Comm> comm_;
  const Operations operations_;
  bool came_ = false, stays_away_ = false;
};

// Into its stream, or into what that captures.
int Launch(const std::shared_ptr<Comm>& comm) {
  auto operations = std::make_shared<const std::vector<Operation>>(std::move(comm->asked));
  comm->asked.clear();
  const int result =
      DRIVER(FakeCudaMeet)(comm->stream, Visit(comm, std::move(operations)));
  return result == kCuSuccess ? kNcclSuccess : kNcclUnhandledCudaError;
}

int StartRanks(const std::vector<Group::Init>& inits) {
  const std::lock_guard lock(Its().mutex);
  for (const Group::Init& init : inits) {
    const auto found = Its().cliques.find({init.id.internal, sizeof(init.id.internal)});
    if (found == Its().cliques.end()) return Say(kNcclInvalidArgument, "an id of nobody");
    std::shared_ptr<Clique>& clique = found->second;
    if (clique == nullptr) clique = std::make_shared<Clique>(init.ranks);
    const bool fits = init.rank >= 0 && init.rank < init.ranks &&
                      clique->members.size() == static_cast<size_t>(init.ranks);
    if (!fits) return Say(kNcclInvalidArgument, "rank " + std::to_string(init.rank));
    Comm*& member = clique->members[static_cast<size_t>(init.rank)];
    if (member != nullptr) return Say(kNcclInvalidUsage, "a rank that is there twice");
    for (const Comm* const other : clique->members) {
      if (other != nullptr && other->device == init.device) {
        return Say(kNcclInvalidUsage, "two ranks on device " + std::to_string(init.device));
      }
    }
    auto comm = std::make_shared<Comm>();
    comm->clique = clique;
    comm->rank = static_cast<size_t>(init.rank);
    comm->device = init.device;
    comm->looks = kLooks;
    member = comm.get();
    *init.comm = reinterpret_cast<NcclComm>(comm.get());
    Its().comms[comm.get()] = std::move(comm);
    DRIVER(FakeCudaWake)(1);
  }
  return kNcclInProgress;
}

// Of a rank that is destroyed or aborted.
void Forget(const Comm* comm) {
  {
    const std::lock_guard lock(Its().mutex);
    Its().comms.erase(comm);
  }
  DRIVER(FakeCudaWake)(-1);
}

int EndGroup() {
  const Group ended = std::exchange(group, Group());
  int result = ended.error;
  if (result == kNcclSuccess && !ended.inits.empty() && !ended.operations.empty()) {
    result = Say(kNcclInvalidUsage, "a group that makes ranks and lets them compute");
  }
  if (result == kNcclSuccess && !ended.inits.empty()) result = StartRanks(ended.inits);
  if (result != kNcclSuccess && result != kNcclInProgress) {
    for (const Group::Init& init : ended.inits) {
      if (*init.comm != nullptr) Forget(reinterpret_cast<const Comm*>(*init.comm));
      *init.comm = nullptr;
    }
    return result;
  }
  for (size_t i = 0; i < ended.operations.size(); ++i) {
    const auto& [comm, operation] = ended.operations[i];
    comm->asked.push_back(operation);
    comm->stream = ended.streams[i];
    comm->looks = kLooks;
  }
  return kNcclInProgress;
}

// Within a group, or as one of its own.
int Add(const std::function<int()>& add) {
  const bool alone = group.depth == 0;
  const int result = add();
  if (result != kNcclSuccess) {
    if (alone) {
      group = Group();
    } else {
      group.error = result;
    }
    return result;
  }
  return alone ? EndGroup() : kNcclSuccess;
}

int AddOperation(const char* function, NcclComm handle, CuStream stream, int type,
                 const Operation& operation) {
  return Add([&]() -> int {
    if (const int result = Asked(function)) return result;
    const std::shared_ptr<Comm> comm = Find(handle);
    if (comm == nullptr) return Say(kNcclInvalidArgument, "a communicator that is gone");
    if (comm->looks > 0 || !comm->asked.empty()) {
      return Say(kNcclInvalidUsage, "what was asked before is not settled");
    }
    if (type != kNcclFloat32 || operation.from == nullptr || operation.to == nullptr) {
      return kNcclInvalidArgument;
    }
    if (DRIVER(FakeCudaDeviceOf)(stream) != comm->device) {
      return Say(kNcclInvalidUsage, "a stream of another device");
    }
    group.operations.emplace_back(comm, operation);
    group.streams.push_back(stream);
    return kNcclSuccess;
  });
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = ReadMachine().nccl;
  return kNcclSuccess;
}

const char* ncclGetErrorString(int result) {
  return result == kNcclSystemError    ? "unhandled system error"
         : result == kNcclInvalidUsage ? "invalid usage"
                                       : "an error of the library";
}

const char* ncclGetLastError(NcclComm) { return "no space in /dev/shm"; }

int ncclGetUniqueId(NcclId* id) {
  if (const int result = Asked("ncclGetUniqueId")) return result;
  const std::lock_guard lock(Its().mutex);
  *id = {};
  std::snprintf(id->internal, sizeof(id->internal), "id %d", ++Its().ids);
  Its().cliques[{id->internal, sizeof(id->internal)}] = nullptr;
  return kNcclSuccess;
}

int ncclCommInitRankConfig(NcclComm* comm, int ranks, NcclId id, int rank, NcclConfig* config) {
  return Add([&]() -> int {
    if (const int result = Asked("ncclCommInitRankConfig")) return result;
    *comm = nullptr;
    const NcclConfig wanted;
    if (config == nullptr || config->size != sizeof(NcclConfig) || config->magic != wanted.magic ||
        config->blocking != 0) {
      return Say(kNcclInvalidArgument, "a communicator that blocks, or none of its");
    }
    const int device = DRIVER(FakeCudaDevice)();
    if (device < 0 || DRIVER(FakeCudaForbidden)() != kCuSuccess) return kNcclUnhandledCudaError;
    group.inits.push_back({comm, id, ranks, rank, device});
    return kNcclSuccess;
  });
}

int ncclCommGetAsyncError(NcclComm handle, int* state) {
  if (const int result = Asked("ncclCommGetAsyncError")) return result;
  const std::shared_ptr<Comm> comm = Find(handle);
  if (comm == nullptr) return Say(kNcclInvalidArgument, "a communicator that is gone");
  *state = kNcclInProgress;
  if (comm->looks > 0) {
    --comm->looks;
    return kNcclSuccess;
  }
  {
    const std::lock_guard lock(Its().mutex);
    if (!comm->clique->complete()) return kNcclSuccess;
  }
  if (!comm->asked.empty()) comm->state = Launch(comm);
  *state = comm->state;
  return kNcclSuccess;
}

int ncclGroupStart() {
  if (const int result = Asked("ncclGroupStart")) return result;
  ++group.depth;
  return kNcclSuccess;
}

int ncclGroupEnd() {
  if (group.depth == 0) return kNcclInvalidUsage;
  if (const int result = Asked("ncclGroupEnd")) group.error = result;
  return --group.depth > 0 ? kNcclSuccess : EndGroup();
}

int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation,
                  NcclComm comm, CuStream stream) {
  if (operation != kNcclAvg) return kNcclInvalidArgument;
  return AddOperation("ncclAllReduce", comm, stream, type,
                      {.from = static_cast<const float*>(from),
                       .to = static_cast<float*>(to),
                       .count = count});
}

int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, NcclComm comm,
                  CuStream stream) {
  return AddOperation("ncclBroadcast", comm, stream, type,
                      {.broadcasts = true,
                       .from = static_cast<const float*>(from),
                       .to = static_cast<float*>(to),
                       .count = count,
                       .root = root});
}

int ncclCommFinalize(NcclComm handle) {
  if (const int result = Asked("ncclCommFinalize")) return result;
  const std::shared_ptr<Comm> comm = Find(handle);
  if (comm == nullptr) return kNcclInvalidArgument;
  comm->looks = kLooks;
  return kNcclInProgress;
}

int ncclCommDestroy(NcclComm handle) {
  if (const int result = Asked("ncclCommDestroy")) return result;
  const std::shared_ptr<Comm> comm = Find(handle);
  if (comm == nullptr) return kNcclInvalidArgument;
  // Of this function, and of the list: the rest are what is in streams, or was captured.
  if (comm.use_count() > 2) return Say(kNcclInvalidUsage, "a graph has it, or a stream");
  Forget(comm.get());
  return kNcclSuccess;
}

int ncclCommAbort(NcclComm handle) {
  if (const int result = Asked("ncclCommAbort")) return result;
  const std::shared_ptr<Comm> comm = Find(handle);
  if (comm == nullptr) return kNcclInvalidArgument;
  {
    const std::lock_guard lock(comm->clique->mutex);
    comm->aborted = true;
  }
  Forget(comm.get());
  return kNcclSuccess;
}

}  // extern "C"

}  // namespace taas::cuda::fake
