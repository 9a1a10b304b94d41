#include "dashboard/events/histogram_routes.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dashboard/events/histogram.h"
#include "dashboard/events/json_text.h"
#include "dashboard/events/run.h"

namespace taas::dashboard {
namespace {

template <typename T>
void AppendMember(std::string_view name, const T& value, std::string* out) {
  *out += out->back() == '{' ? "\"" : ",\"";
  *out += name;
  *out += "\":";
  AppendJson(value, out);
}

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct StepRange {
  int64_t from = std::numeric_limits<int64_t>::min();
  int64_t to = std::numeric_limits<int64_t>::max();
  bool Has(int64_t step) const { return from <= step && step <= to; }
};

// "100..500", "100..", "..500".
std::optional<StepRange> ParseSteps(std::string_view text) {
  constexpr std::string_view kBetween = "..";
  const size_t between = text.find(kBetween);
  if (between == std::string_view::npos) return std::nullopt;
  const std::string_view from = text.substr(0, between);
  const std::string_view to = text.substr(between + kBetween.size());
  StepRange range;
  if (!from.empty()) {
    const auto number = ParseWhole<int64_t>(from);
    if (!number) return std::nullopt;
    range.from = *number;
  }
  if (!to.empty()) {
    const auto number = ParseWhole<int64_t>(to);
    if (!number) return std::nullopt;
    range.to = *number;
  }
  return range;
}

// Indices of at most `most` of `count`, spread evenly, the first and the last among them.
std::vector<size_t> SpreadEvenly(size_t count, size_t most) {
  const size_t taken = std::min(count, most);
  std::vector<size_t> indices;
  indices.reserve(taken);
  for (size_t i = 0; i < taken; ++i) {
    // Of a single one the newest.
    indices.push_back(taken == 1 ? count - 1 : i * (count - 1) / (taken - 1));
  }
  return indices;
}

void AppendSteps(const std::vector<Histogram>& points, std::string* out) {
  if (points.empty()) return;
  const auto [first, last] = std::ranges::minmax_element(points, {}, &Histogram::step);
  AppendMember("firstStep", first->step, out);
  AppendMember("lastStep", last->step, out);
}

void AppendTag(std::string_view run, std::string_view tag, const Series& series,
               std::string* out) {
  const auto& points = std::get<Series::Histograms>(series.points).points();
  size_t bins = 0;
  for (const Histogram& point : points) bins = std::max(bins, FilledBinsOf(point));
  *out += '{';
  AppendMember("run", run, out);
  AppendMember("tag", tag, out);
  AppendMember("displayName", std::string_view(series.display_name), out);
  AppendMember("description", std::string_view(series.description), out);
  AppendMember("count", static_cast<uint64_t>(points.size()), out);
  AppendSteps(points, out);
  AppendMember("bins", static_cast<uint64_t>(bins), out);
  *out += '}';
}

Answer AnswerTags(const RunSet& runs) {
  struct Tag {
    std::string_view run;
    std::string_view tag;
    const Series* series;
  };
  std::vector<Tag> tags;
  for (const auto& [name, reader] : runs.readers()) {
    const size_t first = tags.size();
    for (const auto& [tag, series] : reader->run().series()) {
      if (std::holds_alternative<Series::Histograms>(series.points) && series.has_values) {
        tags.push_back({name, tag, &series});
      }
    }
    std::ranges::sort(tags.begin() + static_cast<ptrdiff_t>(first), tags.end(), {}, &Tag::tag);
  }
  std::string out = "{\"tags\":";
  AppendJsonList(tags, [&](const Tag& tag) { AppendTag(tag.run, tag.tag, *tag.series, &out); },
                 &out);
  return Answer::Json(out + '}');
}

void AppendHistogram(const Histogram& histogram, std::string* out) {
  const Bins bins = BinsOf(histogram);
  const auto append = [out](double number) { AppendJson(number, out); };
  *out += '{';
  AppendMember("step", histogram.step, out);
  AppendMember("wall", histogram.wall, out);
  AppendMember("min", bins.min, out);
  AppendMember("max", bins.max, out);
  *out += ",\"edges\":";
  AppendJsonList(bins.edges, append, out);
  *out += ",\"counts\":";
  AppendJsonList(bins.counts, append, out);
  *out += '}';
}

struct SeriesRequest {
  std::string run;
  std::string tag;
  StepRange steps;
  size_t most = kHistogramsByDefault;
};

// The request, or a sentence about what is wrong with it.
std::variant<SeriesRequest, std::string> ParseSeriesRequest(QueryPairs query) {
  const std::string* const run = FindInQuery(query, "run");
  const std::string* const tag = FindInQuery(query, "tag");
  if (run == nullptr || tag == nullptr) return "Name a run and a tag: run=…&tag=…";
  SeriesRequest request{.run = *run, .tag = *tag};
  if (const std::string* const steps = FindInQuery(query, "steps")) {
    const std::optional<StepRange> range = ParseSteps(*steps);
    if (!range) {
      return "steps=" + *steps + " is no range of steps; write 100..500, 100.. or ..500";
    }
    request.steps = *range;
  }
  if (const std::string* const most = FindInQuery(query, "max")) {
    const std::optional<uint64_t> number = ParseWhole<uint64_t>(*most);
    if (!number || *number == 0 || *number > kHistogramsMax) {
      return "max=" + *most + " is no number of histograms; write one from 1 to " +
             std::to_string(kHistogramsMax);
    }
    request.most = *number;
  }
  return request;
}

Answer AnswerSeries(const RunSet& runs, QueryPairs query) {
  const auto parsed = ParseSeriesRequest(query);
  if (const auto* problem = std::get_if<std::string>(&parsed)) return Answer::Error(400, *problem);
  const auto& request = std::get<SeriesRequest>(parsed);
  const Run* const run = runs.Find(request.run);
  const Series* const series = run == nullptr ? nullptr : run->Find(request.tag);
  const auto* const histograms =
      series == nullptr ? nullptr : std::get_if<Series::Histograms>(&series->points);
  if (histograms == nullptr || !series->has_values) {
    return Answer::Error(404, "There are no histograms of tag " + PythonQuoted(request.tag) +
                                  " in run " + PythonQuoted(request.run) +
                                  "; /data/histograms/tags lists all that there are");
  }
  std::vector<const Histogram*> in_range;
  for (const Histogram& point : histograms->points()) {
    if (request.steps.Has(point.step)) in_range.push_back(&point);
  }
  std::string out = "{";
  AppendMember("run", std::string_view(request.run), &out);
  AppendMember("tag", std::string_view(request.tag), &out);
  AppendSteps(histograms->points(), &out);
  AppendMember("inRange", static_cast<uint64_t>(in_range.size()), &out);
  out += ",\"histograms\":";
  AppendJsonList(SpreadEvenly(in_range.size(), request.most),
                 [&](size_t index) { AppendHistogram(*in_range[index], &out); }, &out);
  return Answer::Json(out + '}');
}

Answer AnswerProblems(const RunSet& runs) {
  std::string out = "{\"problems\":";
  const auto append = [&](const RunProblem& problem) {
    out += '{';
    AppendMember("run", std::string_view(problem.run), &out);
    AppendMember("file", std::string_view(problem.problem.file), &out);
    AppendMember("byte", problem.problem.byte, &out);
    AppendMember("what", std::string_view(problem.problem.what), &out);
    out += '}';
  };
  AppendJsonList(runs.Problems(), append, &out);
  return Answer::Json(out + '}');
}

}  // namespace

Answer AnswerHistogramRoutes(const RunSet& runs, std::string_view path, QueryPairs query) {
  if (path == "/data/histograms/tags") return AnswerTags(runs);
  if (path == "/data/histograms/series") return AnswerSeries(runs, query);
  if (path == "/data/problems") return AnswerProblems(runs);
  return Answer::Error(404, "There is no " + std::string(path));
}

}  // namespace taas::dashboard
