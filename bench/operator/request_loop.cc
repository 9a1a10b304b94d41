#include "bench/operator/request_loop.h"

#include <malloc.h>

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "operator/kube/machine_roots.h"
#include "pplx/threadpool.h"

namespace taas {
namespace {

struct Loop {
  web::http::client::http_client client;
  NextRequest next;
  CheckReply check;
  std::atomic<int> under_way;
  std::promise<void> done;
  std::atomic<bool> failed = false;
};

void Fail(Loop& loop, const std::string& path, const std::exception& error) {
  if (loop.failed.exchange(true)) return;
  loop.done.set_exception(
      std::make_exception_ptr(std::runtime_error(path + ": " + error.what())));
}

// One after the other until none is left. A failure ends them all.
void Send(const std::shared_ptr<Loop>& loop) {
  std::optional<web::http::http_request> request = loop->next();
  if (!request.has_value()) {
    if (loop->under_way.fetch_sub(1) == 1) loop->done.set_value();
    return;
  }
  const std::string path = request->request_uri().to_string();
  loop->client.request(*request)
      .then([loop](const web::http::http_response& reply) {
        loop->check(reply);
        return reply.extract_vector();
      })
      .then([loop, path](const pplx::task<std::vector<unsigned char>>& body) {
        try {
          body.get();
        } catch (const std::exception& error) {
          return Fail(*loop, path, error);  // It stays under way, so that nobody calls it done.
        }
        if (!loop->failed) Send(loop);
      });
}

}  // namespace

void KeepLibrarySmall() {
  mallopt(M_ARENA_MAX, 1);
  crossplat::threadpool::initialize_with_threads(1);
}

void SendAll(web::http::client::http_client client, int at_once, NextRequest next,
             CheckReply check) {
  const auto loop = std::make_shared<Loop>(std::move(client), std::move(next), std::move(check),
                                           at_once, std::promise<void>());
  for (int i = 0; i < at_once; ++i) Send(loop);
  loop->done.get_future().get();
}

}  // namespace taas
