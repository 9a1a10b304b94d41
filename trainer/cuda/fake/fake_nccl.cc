// Stands for NCCL on machines without it, for communicators that do not block: sums by ranks of one
// process or of several in their order (fake_clique.h), in the streams of the driver that stands
// for NVIDIA's, once all ranks have come to them. It refuses ranks that are not each there once, on
// a device each; calls before the one before has settled, which takes some looks at
// CommGetAsyncError, and is in no stream until then; and to destroy what a graph was captured with,
// for which the real one waits without end. Ranks that ask for different things end as kernels do
// that fail.

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "trainer/cuda/fake/fake_clique.h"
#include "trainer/cuda/fake/fake_control.h"
#include "trainer/cuda/fake/fake_machine.h"
#include "trainer/cuda/nccl_api.h"

namespace taas::cuda::fake {
namespace {

// Looks until what was asked for is done: a caller that does not look does not get it.
constexpr int kLooks = 2;

using Operations = std::shared_ptr<const std::vector<FakeOperation>>;

struct Comm {
  std::shared_ptr<FakeClique> clique;
  size_t rank = 0;
  int device = 0;
  CuStream stream = nullptr;
  std::vector<FakeOperation> asked;  // Not yet in its stream.
  int looks = 0;
  int state = kNcclSuccess;
  std::atomic<bool> aborted = false;
  uint64_t rounds = 0;  // That its stream has come to.
};

struct State {
  std::mutex mutex;
  std::map<const Comm*, std::shared_ptr<Comm>> comms;
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
  std::vector<std::pair<std::shared_ptr<Comm>, FakeOperation>> operations;
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

// Of all machines that there are: those whose files are others are others.
std::string DeviceOfAll(int index) {
  const char* const machine = std::getenv("TAAS_FAKE_CUDA");
  const auto number = ReadMachine().devices[static_cast<size_t>(index)].number;
  return std::string(machine == nullptr ? "" : machine) + " " + std::to_string(number);
}

// A rank in its stream.
class Visit {
 public:
  Visit(std::shared_ptr<Comm> comm, Operations operations)
      : comm_(std::move(comm)), operations_(std::move(operations)) {}

  int operator()() {
    if (comm_->aborted) return kCuSuccess;
    if (round_ == 0) {
      round_ = ++comm_->rounds;
      const int wanted = Asked(("collective@" + std::to_string(comm_->rank)).c_str());
      stays_away_ = wanted == kNeverEnds;
      if (wanted != kCuSuccess && !stays_away_) return wanted;
      for (const FakeOperation& operation : *operations_) {
        const auto contains = DRIVER(FakeCudaContains);
        if (!contains(comm_->device, operation.from, operation.bytes()) ||
            !contains(comm_->device, operation.to, operation.bytes())) {
          return kCuIllegalAddress;
        }
      }
    }
    if (stays_away_) return kNotYet;
    FakeClique& clique = *comm_->clique;
    placed_ = placed_ || clique.Place(comm_->rank, round_, *operations_);
    if (!placed_ || !clique.AllPlaced(round_)) return kNotYet;
    return clique.Take(comm_->rank, round_, *operations_);
  }

 private:
  const std::shared_ptr<Comm> comm_;
  const Operations operations_;
  uint64_t round_ = 0;
  bool placed_ = false, stays_away_ = false;
};

// Into its stream, or into what that captures.
int Launch(const std::shared_ptr<Comm>& comm) {
  auto operations = std::make_shared<const std::vector<FakeOperation>>(std::move(comm->asked));
  comm->asked.clear();
  const int result =
      DRIVER(FakeCudaMeet)(comm->stream, Visit(comm, std::move(operations)));
  return result == kCuSuccess ? kNcclSuccess : kNcclUnhandledCudaError;
}

int StartRanks(const std::vector<Group::Init>& inits) {
  for (const Group::Init& init : inits) {
    auto clique = FakeClique::Find(init.id.internal);
    if (clique == nullptr) return Say(kNcclSystemError, "an id of nobody");
    if (const int entered = clique->Enter(init.rank, init.ranks, DeviceOfAll(init.device))) {
      return entered;
    }
    auto comm = std::make_shared<Comm>();
    comm->clique = std::move(clique);
    comm->rank = static_cast<size_t>(init.rank);
    comm->device = init.device;
    comm->looks = kLooks;
    *init.comm = reinterpret_cast<NcclComm>(comm.get());
    {
      const std::lock_guard lock(Its().mutex);
      Its().comms[comm.get()] = std::move(comm);
    }
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
                 FakeOperation operation) {
  return Add([&]() -> int {
    if (const int result = Asked(function)) return result;
    const std::shared_ptr<Comm> comm = Find(handle);
    if (comm == nullptr) return Say(kNcclInvalidArgument, "a communicator that is gone");
    if (comm->looks > 0 || !comm->asked.empty()) {
      return Say(kNcclInvalidUsage, "what was asked before is not settled");
    }
    const bool known = type == kNcclFloat32 || type == kNcclBFloat16;
    if (!known || operation.from == nullptr || operation.to == nullptr) {
      return kNcclInvalidArgument;
    }
    operation.narrow = type == kNcclBFloat16;
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
  const std::string made = FakeClique::MakeId();
  if (made.empty()) return Say(kNcclSystemError, "no memory for its ranks");
  *id = {};
  std::snprintf(id->internal, sizeof(id->internal), "%s", made.c_str());
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
  if (!comm->clique->complete()) return kNcclSuccess;
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
                      {.from = from, .to = to, .count = count});
}

int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, NcclComm comm,
                  CuStream stream) {
  return AddOperation("ncclBroadcast", comm, stream, type,
                      {.broadcasts = true, .from = from, .to = to, .count = count, .root = root});
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
  const int result = Asked("ncclCommAbort");
  if (result != kNcclSuccess && result != kNeverEnds) return result;
  const std::shared_ptr<Comm> comm = Find(handle);
  if (comm == nullptr) return kNcclInvalidArgument;
  comm->aborted = true;
  Forget(comm.get());
  // As some releases, in threads of their own.
  std::promise<void> never;
  if (result == kNeverEnds) never.get_future().wait();
  return kNcclSuccess;
}

}  // extern "C"

}  // namespace taas::cuda::fake
