// Requests with cpprestsdk, so many under way at a time, as the operator sends them: one thread,
// one heap, and none of the machine's authorities.
//
// Ownership: arguments are copied or taken. Threads: any, once; `next` and `check` are called by
// the library's. Errors: std::runtime_error with the path of the first request that failed.
//
//   KeepLibrarySmall();
//   SendAll(client, 16, next, [](const web::http::http_response& reply) { … });

#ifndef BENCH_OPERATOR_REQUEST_LOOP_H_
#define BENCH_OPERATOR_REQUEST_LOOP_H_

#include <functional>
#include <optional>

#include "cpprest/http_client.h"

namespace taas {

// Before the first request.
void KeepLibrarySmall();

// Nothing: none is left.
using NextRequest = std::function<std::optional<web::http::http_request>()>;
// Throws what is wrong with an answer.
using CheckReply = std::function<void(const web::http::http_response& reply)>;

// Returns when all have been answered. After a failure requests may be under way still.
void SendAll(web::http::client::http_client client, int at_once, NextRequest next,
             CheckReply check);

}  // namespace taas

#endif  // BENCH_OPERATOR_REQUEST_LOOP_H_
