// A bare client: sends what a file lists as fast as the API server answers, and decides nothing. It
// is built as the operator is: cpprestsdk with one thread, as many writes under way, replies in
// protobuf where the server has them.
//
//   creator SERVER CERTIFICATE KEY FILE AT_ONCE
//
// SERVER is https://ADDRESS; CERTIFICATE and KEY are PEM files of the client. Each line of FILE is
// POST or PATCH (a merge patch), a path and the JSON to send there, with tabs between; or GET, the
// path of a watch, which is read and dropped, and nothing. Prints "sent N" when all that is sent
// has been answered, and stays until it is told to end, so that its CPU can be read. A reply that
// is not 2xx ends it with exit code 1.

#include <unistd.h>

#include <atomic>
#include <chrono>
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

// Of what is watched there may be no word for a while; of a write there is one soon.
constexpr std::chrono::hours kWatchTimeout{1};
constexpr std::chrono::seconds kWriteTimeout{30};

struct Wanted {
  std::string method;
  std::string path;
  std::string body;
};

struct List {
  std::vector<Wanted> watches;
  std::vector<Wanted> writes;
};

List Read(const char* path) {
  std::ifstream file(path);
  List found;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (second == std::string::npos) throw std::runtime_error("a line has less than two tabs");
    const Wanted wanted = {line.substr(0, first), line.substr(first + 1, second - first - 1),
                           line.substr(second + 1)};
    (wanted.method == web::http::methods::GET ? found.watches : found.writes).push_back(wanted);
  }
  if (found.writes.empty()) throw std::runtime_error("nothing is listed");
  return found;
}

web::http::client::http_client_config ConfigOf(const char* certificate, const char* key,
                                               std::chrono::seconds timeout) {
  web::http::client::http_client_config config;
  config.set_timeout(timeout);
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
  if (wanted.method == web::http::methods::GET) return request;
  const bool patch = wanted.method == web::http::methods::PATCH;
  request.set_body(wanted.body, patch ? "application/merge-patch+json" : "application/json");
  return request;
}

void Check(const web::http::http_response& reply) {
  if (reply.status_code() < 300) return;
  throw std::runtime_error("the server answered " + std::to_string(reply.status_code()));
}

[[noreturn]] void End(const std::string& what, const std::string& why) {
  std::fprintf(stderr, "creator: %s: %s\n", what.c_str(), why.c_str());
  std::fflush(stderr);
  _exit(1);  // Requests are under way still.
}

void SendWanted(char** argv) {
  const int at_once = std::atoi(argv[5]);
  if (at_once < 1) throw std::runtime_error("AT_ONCE must be 1 or more");
  const List list = Read(argv[4]);
  const auto client = [argv](std::chrono::seconds timeout) {
    return web::http::client::http_client(web::uri(argv[1]), ConfigOf(argv[2], argv[3], timeout));
  };
  for (const Wanted& watch : list.watches) {
    taas::Hear(client(kWatchTimeout), [watch] { return RequestFor(watch); }, Check,
               [watch](const std::string& why) { End(watch.path, why); });
  }
  std::atomic<size_t> next = 0;
  taas::SendAll(client(kWriteTimeout), at_once,
                [&]() -> std::optional<web::http::http_request> {
                  const size_t index = next.fetch_add(1);
                  if (index >= list.writes.size()) return std::nullopt;
                  return RequestFor(list.writes[index]);
                },
                Check);
  std::printf("sent %zu\n", list.writes.size());
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
    End(argv[4], error.what());
  }
}
