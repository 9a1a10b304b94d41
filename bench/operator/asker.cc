// What cpprestsdk itself takes: a program that only asks, with what the operator does to keep the
// library small: one thread, one heap, none of the machine's authorities.
//
//   bazel run //bench/operator:asker -- https://ADDRESS/version [REQUESTS] [AT_ONCE]
//
// Prints the memory of the process after its first reply, and the CPU of each of REQUESTS (3,000)
// more, AT_ONCE (16) under way at a time. Whatever the server answers is an answer.

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/operator/request_loop.h"

namespace {

// Resident, in bytes.
long ResidentBytes() {
  long whole = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &whole, &resident) != 2) {
    throw std::runtime_error("/proc/self/statm cannot be read");
  }
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

// Of all threads, in user and kernel mode.
double CpuSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void Measure(const std::string& url, int requests, int at_once) {
  web::http::client::http_client_config config;
  config.set_validate_certificates(false);
  web::http::client::http_client client(web::uri(url), config);
  client.request(web::http::methods::GET).get().extract_vector().get();
  std::printf("memory after the first reply: %.1f MB\n",
              static_cast<double>(ResidentBytes()) / 1e6);
  const double before = CpuSeconds();
  std::atomic<int> left = requests;
  taas::SendAll(client, at_once,
                [&left]() -> std::optional<web::http::http_request> {
                  if (left.fetch_sub(1) <= 0) return std::nullopt;
                  return web::http::http_request(web::http::methods::GET);
                },
                [](const web::http::http_response&) {});
  std::printf("CPU of %d requests, %d at once: %.2f s, %.3f ms each\n", requests, at_once,
              CpuSeconds() - before, (CpuSeconds() - before) * 1000 / requests);
}

}  // namespace

int main(int argc, char** argv) {
  const int requests = argc > 2 ? std::atoi(argv[2]) : 3000;
  const int at_once = argc > 3 ? std::atoi(argv[3]) : 16;
  if (argc < 2 || requests < 1 || at_once < 1) {
    std::fprintf(stderr, "usage: asker URL [REQUESTS] [AT_ONCE], both of them 1 or more\n");
    return 2;
  }
  taas::KeepLibrarySmall();
  try {
    Measure(argv[1], requests, at_once);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asker: %s: %s\n", argv[1], error.what());
    std::fflush(stderr);
    _exit(1);  // Requests may be under way still.
  }
}
