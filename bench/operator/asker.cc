// What cpprestsdk itself takes: a program that only asks, with what the operator does to keep the
// library small: one thread, one heap, none of the machine's authorities.
//
//   bazel run //bench/operator:asker -- https://ADDRESS/version [REQUESTS] [AT_ONCE]
//
// Prints the memory of the process after its first reply, and the CPU of each of REQUESTS (3,000)
// more, AT_ONCE (16) under way at a time. Whatever the server answers is an answer.

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpprest/http_client.h"
#include "operator/kube/machine_roots.h"
#include "pplx/threadpool.h"

namespace {

using Client = web::http::client::http_client;

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

struct Load {
  Client client;
  std::atomic<int> left;
  std::atomic<int> under_way;
  std::promise<void> done;
  std::atomic<bool> failed = false;
};

// One request after the other until none is left. A failure ends them all.
void Ask(const std::shared_ptr<Load>& load) {
  if (load->left.fetch_sub(1) <= 0) {
    if (load->under_way.fetch_sub(1) == 1) load->done.set_value();
    return;
  }
  load->client.request(web::http::methods::GET)
      .then([](const web::http::http_response& reply) { return reply.extract_vector(); })
      .then([load](const pplx::task<std::vector<unsigned char>>& body) {
        try {
          body.get();
        } catch (const std::exception&) {
          // This one stays under way, so that nobody calls it done.
          load->left = 0;
          if (!load->failed.exchange(true)) load->done.set_exception(std::current_exception());
          return;
        }
        Ask(load);
      });
}

void Measure(const std::string& url, int requests, int at_once) {
  crossplat::threadpool::initialize_with_threads(1);
  web::http::client::http_client_config config;
  config.set_validate_certificates(false);
  const auto load = std::make_shared<Load>(Client(web::uri(url), config), requests, at_once,
                                           std::promise<void>());
  load->client.request(web::http::methods::GET).get().extract_vector().get();
  std::printf("memory after the first reply: %.1f MB\n",
              static_cast<double>(ResidentBytes()) / 1e6);
  const double before = CpuSeconds();
  for (int i = 0; i < at_once; ++i) Ask(load);
  load->done.get_future().get();
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
  mallopt(M_ARENA_MAX, 1);
  try {
    Measure(argv[1], requests, at_once);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asker: %s: %s\n", argv[1], error.what());
    return 1;
  }
}
