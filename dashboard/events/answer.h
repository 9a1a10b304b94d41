// What a route of event files answers, ready for an HTTP response, and the query that it gets.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const Answer answer = AnswerTensorBoard(runs, "/data/runs", {});
//   Respond(answer.status, answer.content_type, answer.body);

#ifndef DASHBOARD_EVENTS_ANSWER_H_
#define DASHBOARD_EVENTS_ANSWER_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace taas::dashboard {

struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;

  static Answer Json(std::string body) { return {.body = std::move(body)}; }
  static Answer Error(int status, std::string text) {
    return {.status = status,
            .content_type = "text/plain; charset=utf-8",
            .body = std::move(text)};
  }
};

// Pairs of a decoded query, as WebTarget has them.
using QueryPairs = std::span<const std::pair<std::string, std::string>>;

// The first value under a name, or null.
inline const std::string* FindInQuery(QueryPairs query, std::string_view name) {
  for (const auto& [key, value] : query) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_ANSWER_H_
