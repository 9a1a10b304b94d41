#include "trainer/cuda/fake/fake_clique.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/nccl_api.h"

namespace taas::cuda::fake {
namespace {

// Of a machine's file, and a number.
constexpr size_t kDeviceBytes = 512;

int Say(int result, const std::string& what) {
  std::fprintf(stderr, "the NCCL that is not there: %s\n", what.c_str());
  return result;
}

// Those of this process, by id.
struct Known {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<FakeClique>> cliques;
  std::map<std::string, std::shared_ptr<FakeClique>> drawn;  // That nobody has entered here.
  int ids = 0;
};
Known& All() {
  static Known* const kAll = std::make_unique<Known>().release();
  return *kAll;
}

float Widened(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
uint16_t Narrowed(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float At(const std::byte* values, size_t i, bool narrow) {
  if (narrow) return Widened(reinterpret_cast<const uint16_t*>(values)[i]);
  return reinterpret_cast<const float*>(values)[i];
}

}  // namespace

// What is done, as all have to ask for it.
struct FakeClique::Form {
  uint64_t broadcasts, narrow, count, root;
};

struct FakeClique::Slot {
  std::atomic<int32_t> entered;
  char device[kDeviceBytes];
  std::atomic<uint64_t> placed, taken;  // Rounds.
  uint64_t operations;
};

struct FakeClique::Area {
  std::atomic<int32_t> ranks;
  Slot slots[kFakeRanksMax];

  // Of which pages are there that were written.
  static constexpr size_t kBytes = size_t{64} << 10;
  static constexpr size_t kAllBytes = kBytes + kFakeRanksMax * kFakeBytesMax;
};

std::string FakeClique::MakeId() {
  static_assert(sizeof(Area) <= Area::kBytes && std::atomic<uint64_t>::is_always_lock_free);
  const int descriptor = memfd_create("fake-nccl", MFD_CLOEXEC);
  if (descriptor < 0) return "";
  if (ftruncate(descriptor, static_cast<off_t>(Area::kAllBytes)) != 0) {
    close(descriptor);
    return "";
  }
  Known& all = All();
  const std::lock_guard lock(all.mutex);
  const std::string id = "fake " + std::to_string(getpid()) + " " + std::to_string(descriptor) +
                         " " + std::to_string(++all.ids);
  void* const memory = mmap(nullptr, Area::kAllBytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) {
    close(descriptor);
    return "";
  }
  std::shared_ptr<FakeClique> clique(new FakeClique(static_cast<Area*>(memory), descriptor));
  all.cliques[id] = clique;
  all.drawn[id] = std::move(clique);
  return id;
}

std::shared_ptr<FakeClique> FakeClique::Find(const std::string& id) {
  Known& all = All();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.cliques.find(id); found != all.cliques.end()) {
    auto clique = found->second.lock();
    all.drawn.erase(id);
    if (clique != nullptr) return clique;
  }
  int process = 0, number = 0;
  if (std::sscanf(id.c_str(), "fake %d %d", &process, &number) != 2 || process == getpid()) {
    return nullptr;
  }
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  struct stat found {};
  void* memory = MAP_FAILED;
  if (fstat(descriptor, &found) == 0 && found.st_size == static_cast<off_t>(Area::kAllBytes)) {
    memory = mmap(nullptr, Area::kAllBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                  descriptor, 0);
  }
  close(descriptor);
  if (memory == MAP_FAILED) return nullptr;
  std::shared_ptr<FakeClique> clique(new FakeClique(static_cast<Area*>(memory), -1));
  all.cliques[id] = clique;
  return clique;
}

FakeClique::~FakeClique() {
  munmap(area_, Area::kAllBytes);
  if (descriptor_ >= 0) close(descriptor_);
}

size_t FakeClique::ranks() const { return static_cast<size_t>(area_->ranks.load()); }

std::byte* FakeClique::data(size_t rank) const {
  return reinterpret_cast<std::byte*>(area_) + Area::kBytes + rank * kFakeBytesMax;
}

int FakeClique::Enter(int rank, int ranks, const std::string& device) {
  int32_t said = 0;
  const bool first = area_->ranks.compare_exchange_strong(said, ranks);
  if (rank < 0 || rank >= ranks || ranks > static_cast<int>(kFakeRanksMax) ||
      (!first && said != ranks)) {
    return Say(kNcclInvalidArgument, "rank " + std::to_string(rank));
  }
  Slot& own = area_->slots[rank];
  int32_t nobody = 0;
  if (!own.entered.compare_exchange_strong(nobody, 1)) {
    return Say(kNcclInvalidUsage, "a rank that is there twice");
  }
  std::snprintf(own.device, sizeof(own.device), "%s", device.c_str());
  own.entered.store(2);
  for (int other = 0; other < ranks; ++other) {
    const Slot& slot = area_->slots[other];
    if (other == rank || slot.entered.load() != 2) continue;
    if (std::strncmp(slot.device, own.device, sizeof(own.device)) == 0) {
      return Say(kNcclInvalidUsage, "two ranks on device " + device);
    }
  }
  return kNcclSuccess;
}

bool FakeClique::complete() {
  for (size_t rank = 0; rank < ranks(); ++rank) {
    if (area_->slots[rank].entered.load() != 2) return false;
  }
  const std::lock_guard lock(mutex_);
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  return true;
}

bool FakeClique::Place(size_t rank, uint64_t round,
                       const std::vector<FakeOperation>& operations) {
  for (size_t other = 0; other < ranks(); ++other) {
    if (area_->slots[other].taken.load(std::memory_order_acquire) + 1 < round) return false;
  }
  Slot& own = area_->slots[rank];
  std::byte* to = data(rank);
  own.operations = operations.size();
  for (const FakeOperation& operation : operations) {
    const Form form{operation.broadcasts, operation.narrow, operation.count,
                    static_cast<uint64_t>(operation.root)};
    std::memcpy(to, &form, sizeof(form));
    to += sizeof(form);
  }
  for (const FakeOperation& operation : operations) {
    if (to + operation.bytes() > data(rank) + kFakeBytesMax) {
      Say(0, "more than " + std::to_string(kFakeBytesMax) + " bytes in a mean");
      std::abort();
    }
    std::memcpy(to, operation.from, operation.bytes());
    to += (operation.bytes() + sizeof(float) - 1) / sizeof(float) * sizeof(float);
  }
  own.placed.store(round, std::memory_order_release);
  return true;
}

bool FakeClique::AllPlaced(uint64_t round) const {
  for (size_t rank = 0; rank < ranks(); ++rank) {
    if (area_->slots[rank].placed.load(std::memory_order_acquire) < round) return false;
  }
  return true;
}

int FakeClique::Take(size_t rank, uint64_t round, const std::vector<FakeOperation>& operations) {
  const size_t forms = operations.size() * sizeof(Form);
  int result = kCuSuccess;
  for (size_t other = 0; other < ranks(); ++other) {
    if (area_->slots[other].operations != operations.size() ||
        std::memcmp(data(other), data(rank), forms) != 0) {
      result = Say(kCuLaunchFailed, "ranks ask for different things");
      break;
    }
  }
  size_t at = forms;
  const float share = 1.0F / static_cast<float>(ranks());
  for (const FakeOperation& operation : operations) {
    if (result != kCuSuccess) break;
    const bool narrow = operation.narrow;
    for (size_t i = 0; i < operation.count; ++i) {
      const auto of = [&](size_t who) { return At(data(who) + at, i, narrow); };
      float value = operation.broadcasts ? of(static_cast<size_t>(operation.root)) : of(0) * share;
      for (size_t who = 1; who < ranks() && !operation.broadcasts; ++who) value += of(who) * share;
      if (narrow) {
        static_cast<uint16_t*>(operation.to)[i] = Narrowed(value);
      } else {
        static_cast<float*>(operation.to)[i] = value;
      }
    }
    at += (operation.bytes() + sizeof(float) - 1) / sizeof(float) * sizeof(float);
  }
  area_->slots[rank].taken.store(round, std::memory_order_release);
  return result;
}

}  // namespace taas::cuda::fake
