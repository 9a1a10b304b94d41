// Answers as the dashboard would from a directory of event files, for tests that compare.
//
//   answers_main DIR < requests > answers
//
// A request is a line of JSON: {"path": "/data/runs", "query": [["run", "train"], …]}. Its answer
// is a line, {"status", "type", "body"}. The path "refresh" reads what has come and answers null.

#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "dashboard/events/histogram_routes.h"
#include "dashboard/events/run_set.h"
#include "dashboard/events/tensorboard_routes.h"
#include "third_party/json.h"

int main(int argc, char** argv) {
  using taas::dashboard::Answer;
  if (argc != 2) {
    std::fprintf(stderr, "usage: answers_main DIR\n");
    return 2;
  }
  taas::dashboard::RunSet runs(argv[1]);
  runs.Refresh();
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = nlohmann::json::parse(line);
    const auto path = request["path"].get<std::string>();
    const auto query = request["query"].get<std::vector<std::pair<std::string, std::string>>>();
    Answer answer = Answer::Json("null");
    if (path == "refresh") {
      runs.Refresh();
    } else if (path.starts_with("/data/histograms/") || path == "/data/problems") {
      answer = AnswerHistogramRoutes(runs, path, query);
    } else {
      answer = AnswerTensorBoard(runs, path, query);
    }
    const nlohmann::json out = {
        {"status", answer.status}, {"type", answer.content_type}, {"body", answer.body}};
    std::printf("%s\n", out.dump().c_str());
    std::fflush(stdout);
  }
  return 0;
}
