// Requests with cpprestsdk, so many under way at a time, as the operator sends them: one thread,
// one heap, and none of the machine's authorities.
//
// Ownership: arguments are copied or taken. Threads: any; what is handed over is called by the
// caller's and by the library's, also at one time. Errors: std::runtime_error with the path of the
// first request that failed.
//
//   KeepLibrarySmall();
//   Hear(client, watch, check, [](const std::string& why) { Complain(why); });
//   SendAll(client, 16, next, [](const web::http::http_response& reply) { … });

#ifndef BENCH_OPERATOR_REQUEST_LOOP_H_
#define BENCH_OPERATOR_REQUEST_LOOP_H_

#include <functional>
#include <optional>
#include <string>

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

using NewRequest = std::function<web::http::http_request()>;

// Reads the reply piece by piece as it comes, and drops it. One that the server ends, as it does to
// watches of whoever is slow, is asked for again as it was. `failed` is told why one broke off or
// cannot be had.
void Hear(web::http::client::http_client client, NewRequest ask, CheckReply check,
          std::function<void(const std::string& why)> failed);

}  // namespace taas

#endif  // BENCH_OPERATOR_REQUEST_LOOP_H_
