// A bare client: creates what a file lists as fast as the API server answers, decides nothing and
// notes nothing. It is built as the operator is: cpprestsdk with one thread, as many writes under
// way, replies in protobuf.
//
//   creator SERVER CERTIFICATE KEY FILE AT_ONCE
//
// SERVER is https://ADDRESS; CERTIFICATE and KEY are PEM files of the client. Each line of FILE is
// a path, a tab and the object to POST there, as JSON. Prints "created N" when all have been
// answered, and stays until it is told to end, so that its CPU can be read. A reply that is not
// 2xx ends it with exit code 1.

#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "boost/asio/ssl.hpp"
#include "cpprest/http_client.h"
#include "operator/kube/machine_roots.h"
#include "pplx/threadpool.h"

namespace {

using Client = web::http::client::http_client;

constexpr char kAccept[] = "application/vnd.kubernetes.protobuf,application/json";

struct Wanted {
  std::string path;
  std::string body;
};

struct Work {
  Client client;
  std::vector<Wanted> all;
  std::atomic<size_t> next = 0;
  std::atomic<int> under_way;
  std::promise<void> done;
  std::atomic<bool> failed = false;
};

std::vector<Wanted> Read(const char* path) {
  std::ifstream file(path);
  std::vector<Wanted> found;
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) throw std::runtime_error("a line has no tab");
    found.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  if (found.empty()) throw std::runtime_error("nothing is listed");
  return found;
}

web::http::client::http_client_config ConfigOf(const char* certificate, const char* key) {
  web::http::client::http_client_config config;
  config.set_validate_certificates(false);  // It tells nobody anything that is secret.
  config.set_ssl_context_callback([certificate, key](boost::asio::ssl::context& context) {
    context.use_certificate_chain_file(certificate);
    context.use_private_key_file(key, boost::asio::ssl::context::pem);
  });
  return config;
}

// One after the other until none is left. A failure ends them all.
void Create(const std::shared_ptr<Work>& work) {
  const size_t index = work->next.fetch_add(1);
  if (index >= work->all.size()) {
    if (work->under_way.fetch_sub(1) == 1) work->done.set_value();
    return;
  }
  const Wanted& wanted = work->all[index];
  web::http::http_request request(web::http::methods::POST);
  request.set_request_uri(web::uri(wanted.path));
  request.headers().add("Accept", kAccept);
  request.set_body(wanted.body, "application/json");
  work->client.request(request)
      .then([](const web::http::http_response& reply) {
        if (reply.status_code() < 300) return reply.extract_vector();
        throw std::runtime_error("the server answered " + std::to_string(reply.status_code()));
      })
      .then([work, index](const pplx::task<std::vector<unsigned char>>& body) {
        try {
          body.get();
        } catch (const std::exception& error) {
          // This one stays under way, so that nobody calls it done.
          if (!work->failed.exchange(true)) {
            work->done.set_exception(std::make_exception_ptr(
                std::runtime_error(work->all[index].path + ": " + error.what())));
          }
          return;
        }
        if (!work->failed) Create(work);
      });
}

void CreateAll(char** argv) {
  const int at_once = std::atoi(argv[5]);
  if (at_once < 1) throw std::runtime_error("AT_ONCE must be 1 or more");
  crossplat::threadpool::initialize_with_threads(1);
  const auto work = std::make_shared<Work>(Client(web::uri(argv[1]), ConfigOf(argv[2], argv[3])),
                                           Read(argv[4]));
  work->under_way = at_once;
  for (int i = 0; i < at_once; ++i) Create(work);
  work->done.get_future().get();
  std::printf("created %zu\n", work->all.size());
  std::fflush(stdout);
  while (true) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: creator SERVER CERTIFICATE KEY FILE AT_ONCE\n");
    return 2;
  }
  mallopt(M_ARENA_MAX, 1);
  try {
    CreateAll(argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "creator: %s: %s\n", argv[4], error.what());
    std::fflush(stderr);
    _exit(1);  // Requests are under way still.
  }
}
