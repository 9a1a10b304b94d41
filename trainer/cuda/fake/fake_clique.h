// The ranks that were made with one id of the NCCL that is not there, in one process or in several:
// memory that all of them have mapped, where each puts what it brings to a mean and reads what the
// others do.
//
// It is anonymous (memfd), and an id says of which process it is and by which descriptor, so that
// nothing is left when all have ended, however they do. A rank that ends leaves its place as it
// was: the others wait for it, as those of the real one do.
//
// Ownership: shared by the ranks of a process. Threads: any; a rank by one at a time. Errors: null
// for an id of nobody; ncclResult_t and CUresult as numbers.
//
//   const std::string id = FakeClique::MakeId();
//   const auto clique = FakeClique::Find(id);
//   clique->Enter(rank, ranks, device);
//   while (!clique->Place(rank, round, operations) || !clique->AllPlaced(round)) …
//   clique->Take(rank, round, operations);

#ifndef TRAINER_CUDA_FAKE_FAKE_CLIQUE_H_
#define TRAINER_CUDA_FAKE_FAKE_CLIQUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace taas::cuda::fake {

// A process that has more, or brings more to a mean, is told so.
inline constexpr size_t kFakeRanksMax = 16, kFakeBytesMax = size_t{64} << 20;

struct FakeOperation {
  bool broadcasts = false, narrow = false;  // narrow: bfloat16.
  const void* from = nullptr;
  void* to = nullptr;
  size_t count = 0;
  int root = 0;  // Of a broadcast.

  size_t bytes() const { return count * (narrow ? sizeof(uint16_t) : sizeof(float)); }
};

class FakeClique {
 public:
  static std::string MakeId();
  static std::shared_ptr<FakeClique> Find(const std::string& id);
  ~FakeClique();
  FakeClique(const FakeClique&) = delete;
  FakeClique& operator=(const FakeClique&) = delete;

  // `device`: of all machines.
  int Enter(int rank, int ranks, const std::string& device);
  // All have entered.
  bool complete();

  // Rounds are counted from 1 on. False while others still need what it has placed before.
  bool Place(size_t rank, uint64_t round, const std::vector<FakeOperation>& operations);
  bool AllPlaced(uint64_t round) const;
  int Take(size_t rank, uint64_t round, const std::vector<FakeOperation>& operations);

 private:
  struct Slot;
  struct Area;
  struct Form;

  FakeClique(Area* area, int descriptor) : area_(area), descriptor_(descriptor) {}
  size_t ranks() const;
  std::byte* data(size_t rank) const;

  Area* const area_;
  std::mutex mutex_;
  int descriptor_;  // Of who has made it, until all have entered.
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CLIQUE_H_
