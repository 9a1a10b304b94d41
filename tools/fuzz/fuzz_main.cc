// The test of a folder's fuzz targets: the inputs that once broke one (testdata/fuzz/TARGET/), the
// seeds, then two seconds of changed ones for each target.
//
//   fuzz_test                                      as `make test` runs it
//   fuzz_test --seed 7 --seconds 60 --target idx_fuzz
//   fuzz_test --target idx_fuzz --seed 1 --round 4711      the one input of a failure
//
// An input that ends the process, by a signal or an exception, or that takes a minute or more
// memory than the limit, is written to a file, whose name is printed with seed and round.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/command_line.h"
#include "operator/base/log.h"
#include "operator/base/random.h"
#include "tools/fuzz/mutate.h"
#include "tools/fuzz/target.h"

namespace taas {
namespace {

// No reader may take so long for 64 KiB; a machine may be busy.
constexpr unsigned kInputSeconds = 60;
// A reader that takes more for 64 KiB believes what they say.
[[maybe_unused]] constexpr rlim_t kMemoryMax = rlim_t{2} << 30;

// What a signal handler can still say: all made before the input is tried.
struct Present {
  const char* data = nullptr;
  size_t size = 0;
  char path[512] = "";
  char words[1024] = "";
};
Present present;

void Die(int signal) {
  const auto write_all = [](int file, const char* bytes, size_t size) {
    while (size > 0) {
      const ssize_t done = ::write(file, bytes, size);
      if (done <= 0) return;
      bytes += done;
      size -= static_cast<size_t>(done);
    }
  };
  const int file = ::open(present.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0) write_all(file, present.data, present.size);
  write_all(STDERR_FILENO, present.words, std::char_traits<char>::length(present.words));
  std::signal(signal, SIG_DFL);
  std::raise(signal == SIGALRM ? SIGABRT : signal);
}

void Catch() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM}) {
    std::signal(signal, Die);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit{kMemoryMax, kMemoryMax};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
}

std::string OutputDir() {
  const char* const outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  return outputs == nullptr ? std::filesystem::temp_directory_path().string() : outputs;
}

void Try(const FuzzTarget& target, const std::string& input, const std::string& which) {
  // A copy of exactly its size, so that a byte read behind it is seen by the sanitizer.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  present.data = input.data();
  present.size = input.size();
  std::snprintf(present.words, sizeof(present.words),
                "\nfuzz: %s did not survive %s; the input is in %s\n", target.name, which.c_str(),
                present.path);
  ::alarm(kInputSeconds);
  target.run(bytes.data(), bytes.size());
}

// The inputs that once broke it, by name.
std::vector<std::string> Broken(const FuzzTarget& target) {
  const std::string dir = std::string(kFuzzFolder) + "/testdata/fuzz/" + target.name;
  std::vector<std::string> paths, inputs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

struct Options {
  std::string target;
  int64_t seed = 1;
  double seconds = 2;
  std::optional<int64_t> round;
};

// Each round has a random of its own, so that one can be had without those before it.
std::string InputOf(std::span<const std::string> corpus, int64_t seed, int64_t round) {
  SeededRandom random(static_cast<uint64_t>(seed));
  SeededRandom of_round(random.Next() ^ (static_cast<uint64_t>(round) * 0x9e3779b97f4a7c15));
  return Mutate(corpus, of_round);
}

void RunTarget(const FuzzTarget& target, const Options& options) {
  std::snprintf(present.path, sizeof(present.path), "%s/%s", OutputDir().c_str(), target.name);
  std::vector<std::string> corpus = target.seeds();
  const size_t seeds = corpus.size();
  for (std::string& input : Broken(target)) corpus.push_back(std::move(input));
  if (corpus.empty()) corpus.emplace_back();
  const std::string of_seed = " of seed " + std::to_string(options.seed);
  if (options.round) {
    return Try(target, InputOf(corpus, options.seed, *options.round),
               "round " + std::to_string(*options.round) + of_seed);
  }
  for (size_t i = 0; i < corpus.size(); ++i) {
    Try(target, corpus[i], "input " + std::to_string(i) + " of its corpus");
  }
  const std::chrono::duration<double> length(options.seconds);
  const auto end = std::chrono::steady_clock::now() + length;
  int64_t round = 0;
  for (; std::chrono::steady_clock::now() < end; ++round) {
    Try(target, InputOf(corpus, options.seed, round), "round " + std::to_string(round) + of_seed);
  }
  ::alarm(0);
  std::printf("%s: %zu seeds, %zu inputs that broke it once, %lld rounds%s\n", target.name, seeds,
              corpus.size() - seeds, static_cast<long long>(round), of_seed.c_str());
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  CommandLine app({.name = "fuzz_test", .about = "Fuzz targets of one folder."});
  Options options;
  app.AddOption("--target", &options.target, "this one only");
  app.AddOption("--seed", &options.seed, "of the changes").ShowDefault();
  app.AddOption("--seconds", &options.seconds, "for each target").ShowDefault();
  app.AddOption("--round", &options.round, "this one only");
  if (const std::optional<int> ended = app.Parse(argc, argv)) return *ended;
  // Each refusal would be a line.
  SetLogLevel(LogLevel::kError);
  Catch();
  bool found = false;
  for (const FuzzTarget& target : FuzzTargets()) {
    if (!options.target.empty() && options.target != target.name) continue;
    found = true;
    RunTarget(target, options);
  }
  if (!found) std::fprintf(stderr, "fuzz: there is no target %s\n", options.target.c_str());
  return found ? 0 : 2;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) { return taas::Main(argc, argv); }
