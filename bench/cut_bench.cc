// What a checkpoint's cut adds to the updates of a parameter server, for a model of 1 GB and plain
// gradient descent: by whole gradients, and by the rows of a table that a batch looks up.
//
// With whole gradients a thread copies the values for the cut, and an update goes on behind it;
// with rows the first update after the cut writes to the shard's second buffer, the others are in
// place. In each round updates are made in place, as many as it takes the second buffer to be near
// again where updates are of rows, and then one at once after a cut; and the same with a cut that
// another thread, as soon as it may, sends through a socket and receives, over and over. Printed
// are medians and ranges: of the updates in place, of the longest of them in a round, of those
// after a cut, and by how much these are longer than the median in place of their round.
//
//   bazel run -c opt //bench:cut_bench [-- ROUNDS]  (21)

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/ps/shard_values.h"

namespace taas {
namespace {

constexpr size_t kWidth = 64;
constexpr size_t kRows = size_t{1} << 22;  // Of kWidth floats: 1.07 GB.
constexpr size_t kElements = kRows * kWidth;
constexpr size_t kLookedUp = 3000;  // By a batch.

// Updates in place before a cut: SpareFollower has copied a gigabyte and what changed meanwhile.
constexpr int kBefore = 80;

class Shard {
 public:
  // `listed`: gradients of that many rows; 0: whole ones.
  explicit Shard(size_t listed) : values_(std::vector<float>(kElements, 0.5f), {kElements}, 0, 0) {
    auto rule = Optimizer::Make({.name = "sgd", .learning_rate = {.start = 0.01}});
    CHECK(rule.ok()) << rule.status();
    rule_ = *std::move(rule);
    std::vector<float> gradient(listed == 0 ? kElements : listed * kWidth, 0.25f);
    if (listed == 0) {
      whole_ = std::move(gradient);
      gradient_.values = whole_;
      return;
    }
    rows_.heads = {{.rows = static_cast<uint32_t>(listed), .width = kWidth}};
    for (size_t i = 0; i < listed; ++i) {
      rows_.ids.push_back(static_cast<int32_t>(i * (kRows / listed)));
    }
    rows_.values = std::move(gradient);
    gradient_.rows = &rows_;
  }

  double UpdateMilliseconds() {
    const Clock::Time start = clock_.Now();
    values_.Update(*rule_, ++step_, std::span(&gradient_, 1));
    return std::chrono::duration<double, std::milli>(clock_.Now() - start).count();
  }
  ps::ShardValues& values() { return values_; }

 private:
  const RealClock clock_;
  ps::ShardValues values_;
  std::unique_ptr<Optimizer> rule_;
  std::vector<float> whole_;
  ps::RowContents rows_;
  ps::ShardGradient gradient_;
  int64_t step_ = 0;
};

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::string Text(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  char text[80];
  std::snprintf(text, sizeof(text), "%.1f (%.1f … %.1f)", Median(values), least, most);
  return text;
}

// A part of a cut, through the kernel as from a parameter server to a chief on its machine.
void SendPart(std::span<const int, 2> ends, std::span<const float> from, std::span<float> to) {
  const size_t bytes = from.size_bytes();
  CHECK(write(ends[0], from.data(), bytes) == static_cast<ssize_t>(bytes));
  auto* const target = reinterpret_cast<char*>(to.data());
  for (size_t at = 0; at < bytes;) {
    const ssize_t got = read(ends[1], target + at, bytes - at);
    CHECK(got > 0);
    at += static_cast<size_t>(got);
  }
}

// Another thread sends and receives the values again and again until the update is made.
double UpdateWhileRead(Shard& shard, std::span<float> target) {
  ps::ShardValues& values = shard.values();
  values.Cut();
  if (const auto copying = values.Copying(); copying != nullptr) copying->AwaitEnd();
  const ps::VersionStore::Reader cut = values.HoldCut();
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  std::atomic<bool> reading = false, done = false;
  std::thread reader([&] {
    while (!done) {
      constexpr size_t kPart = size_t{1} << 14;  // 64 KiB, which a socket takes at once.
      for (size_t at = 0; at < kElements && !done; at += kPart) {
        SendPart(ends, cut.values().subspan(at, kPart), target.subspan(at, kPart));
        reading = true;
      }
    }
  });
  while (!reading) std::this_thread::yield();
  const double took = shard.UpdateMilliseconds();
  done = true;
  reader.join();
  for (const int end : ends) close(end);
  values.ReleaseCut();
  return took;
}

void Measure(const char* name, size_t listed, int rounds, std::span<float> target) {
  Shard shard(listed);
  std::vector<double> in_place, longest, held, read, more_held, more_read;
  const auto before_cut = [&] {
    std::vector<double> times;
    for (int i = 0; i < (listed == 0 ? 3 : kBefore); ++i) {
      times.push_back(shard.UpdateMilliseconds());
    }
    in_place.insert(in_place.end(), times.begin(), times.end());
    longest.push_back(std::ranges::max(times));
    return Median(times);
  };
  for (int round = 0; round < rounds; ++round) {
    double usual = before_cut();
    shard.values().Cut();
    held.push_back(shard.UpdateMilliseconds());
    shard.values().ReleaseCut();
    more_held.push_back(held.back() - usual);
    usual = before_cut();
    read.push_back(UpdateWhileRead(shard, target));
    more_read.push_back(read.back() - usual);
  }
  std::printf("| %s | %s | %s | %s | %s | %s | %s |\n", name, Text(in_place).c_str(),
              Text(longest).c_str(), Text(held).c_str(), Text(more_held).c_str(),
              Text(read).c_str(), Text(more_read).c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 21;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: cut_bench [ROUNDS]\n");
    return 2;
  }
  std::vector<float> target(taas::kElements, 1.0f);
  std::printf("| gradients | in place, ms | longest of a round | at once after a cut | more | "
              "beside a cut that is sent | more |\n|---|---|---|---|---|---|---|\n");
  taas::Measure("whole", 0, rounds, target);
  taas::Measure("3,000 rows", taas::kLookedUp, rounds, target);
  return 0;
}
