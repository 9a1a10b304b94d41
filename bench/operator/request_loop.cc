#include "bench/operator/request_loop.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
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

struct Stream {
  web::http::client::http_client client;
  NewRequest ask;
  CheckReply check;
  std::function<void(const std::string& why)> failed;
  concurrency::streams::streambuf<uint8_t> body;
  std::vector<uint8_t> piece;
};

void Open(const std::shared_ptr<Stream>& stream);

// A wait for a byte, then all that has come with it.
void ReadOn(const std::shared_ptr<Stream>& stream) {
  stream->body.getc().then([stream](const pplx::task<int>& next) {
    try {
      if (next.get() == concurrency::streams::streambuf<uint8_t>::traits::eof()) {
        return Open(stream);
      }
      stream->piece.resize(std::max<size_t>(stream->body.in_avail(), 1));
      stream->body.getn(stream->piece.data(), stream->piece.size()).get();
      ReadOn(stream);
    } catch (const std::exception& error) {
      stream->failed(error.what());
    }
  });
}

void Open(const std::shared_ptr<Stream>& stream) {
  stream->client.request(stream->ask())
      .then([stream](const pplx::task<web::http::http_response>& answer) {
        try {
          const web::http::http_response reply = answer.get();
          stream->check(reply);
          stream->body = reply.body().streambuf();
          ReadOn(stream);
        } catch (const std::exception& error) {
          stream->failed(error.what());
        }
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

void Hear(web::http::client::http_client client, NewRequest ask, CheckReply check,
          std::function<void(const std::string& why)> failed) {
  Open(std::make_shared<Stream>(Stream{.client = std::move(client),
                                       .ask = std::move(ask),
                                       .check = std::move(check),
                                       .failed = std::move(failed)}));
}

}  // namespace taas
