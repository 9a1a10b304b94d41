// A bare client: sends what a file lists as fast as the API server answers, and decides nothing. It
// is built as the operator is: cpprestsdk with one thread, as many writes under way, replies in
// protobuf where the server has them.
//
//   creator SERVER CERTIFICATE KEY FILE AT_ONCE
//
// SERVER is https://ADDRESS; CERTIFICATE and KEY are PEM files of the client. Each line of FILE is
// POST or PATCH (a merge patch), a path and the JSON to send there, with tabs between. Prints
// "sent N" when all have been answered, and stays until it is told to end, so that its CPU can be
// read. A reply that is not 2xx ends it with exit code 1.

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/operator/request_loop.h"
#include "boost/asio/ssl.hpp"
#include "operator/api/kube_protobuf.h"

namespace {

struct Wanted {
  std::string method;
  std::string path;
  std::string body;
};

std::vector<Wanted> Read(const char* path) {
  std::ifstream file(path);
  std::vector<Wanted> found;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (second == std::string::npos) throw std::runtime_error("a line has less than two tabs");
    found.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                     line.substr(second + 1)});
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

web::http::http_request RequestFor(const Wanted& wanted) {
  web::http::http_request request(wanted.method);
  request.set_request_uri(web::uri(wanted.path));
  request.headers().add("Accept", std::string(taas::kProtobufOrJson));
  const bool patch = wanted.method == web::http::methods::PATCH;
  request.set_body(wanted.body, patch ? "application/merge-patch+json" : "application/json");
  return request;
}

void Check(const web::http::http_response& reply) {
  if (reply.status_code() < 300) return;
  throw std::runtime_error("the server answered " + std::to_string(reply.status_code()));
}

void SendWanted(char** argv) {
  const int at_once = std::atoi(argv[5]);
  if (at_once < 1) throw std::runtime_error("AT_ONCE must be 1 or more");
  const std::vector<Wanted> all = Read(argv[4]);
  std::atomic<size_t> next = 0;
  taas::SendAll({web::uri(argv[1]), ConfigOf(argv[2], argv[3])}, at_once,
                [&]() -> std::optional<web::http::http_request> {
                  const size_t index = next.fetch_add(1);
                  if (index >= all.size()) return std::nullopt;
                  return RequestFor(all[index]);
                },
                Check);
  std::printf("sent %zu\n", all.size());
  std::fflush(stdout);
  while (true) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: creator SERVER CERTIFICATE KEY FILE AT_ONCE\n");
    return 2;
  }
  taas::KeepLibrarySmall();
  try {
    SendWanted(argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "creator: %s: %s\n", argv[4], error.what());
    std::fflush(stderr);
    _exit(1);  // Requests are under way still.
  }
}
