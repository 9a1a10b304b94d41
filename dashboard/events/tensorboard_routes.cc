#include "dashboard/events/tensorboard_routes.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "dashboard/events/histogram.h"
#include "dashboard/events/json_text.h"
#include "dashboard/events/python_random.h"
#include "dashboard/events/run.h"

namespace taas::dashboard {
namespace {

// Of histograms TensorBoard shows fewer than it keeps; of curves and distributions all.
constexpr size_t kHistogramsShown = 51;

using TagsOfRun = std::vector<std::pair<std::string_view, const Series*>>;

// In order of name, of the tags with points of one kind.
template <typename Points>
TagsOfRun TagsWith(const Run& run) {
  TagsOfRun tags;
  for (const auto& [tag, series] : run.series()) {
    if (std::holds_alternative<Points>(series.points) && series.has_values) {
      tags.emplace_back(tag, &series);
    }
  }
  std::ranges::sort(tags);
  return tags;
}

// What TensorBoard's Markdown makes of plain text: paragraphs, with nothing in them that a browser
// would take for more than text.
std::string AsHtml(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const size_t end = std::min(text.find("\n\n"), text.size());
    std::string paragraph;
    for (const char unit : text.substr(0, end)) {
      paragraph += unit == '&'   ? "&amp;"
                   : unit == '<' ? "&lt;"
                   : unit == '>' ? "&gt;"
                                 : std::string(1, unit);
    }
    text.remove_prefix(std::min(text.find_first_not_of('\n', end), text.size()));
    if (paragraph.find_first_not_of(" \t\n") == std::string::npos) continue;
    html += (html.empty() ? "<p>" : "\n<p>") + paragraph + "</p>";
  }
  return html;
}

template <typename Points>
Answer AnswerTags(const RunSet& runs) {
  std::string out = "{";
  for (const auto& [name, reader] : runs.readers()) {
    const TagsOfRun tags = TagsWith<Points>(reader->run());
    if (tags.empty()) continue;
    if (out.size() > 1) out += ',';
    AppendJson(name, &out);
    out += ":{";
    bool is_first = true;
    for (const auto& [tag, series] : tags) {
      if (!series->is_known_version) continue;
      if (!is_first) out += ',';
      is_first = false;
      AppendJson(tag, &out);
      out += ":{\"displayName\":";
      AppendJson(series->display_name, &out);
      out += ",\"description\":";
      AppendJson(AsHtml(series->description), &out);
      out += '}';
    }
    out += '}';
  }
  return Answer::Json(out + '}');
}

Answer AnswerRuns(const RunSet& runs) {
  std::string out;
  AppendJsonList(runs.NamesByStart(), [&](const std::string& name) { AppendJson(name, &out); },
                 &out);
  return Answer::Json(std::move(out));
}

// Null if there is no such curve or histogram.
template <typename Points>
const Points* FindPoints(const RunSet& runs, const std::string& run_name,
                         const std::string& tag) {
  const Run* const run = runs.Find(run_name);
  const Series* const series = run == nullptr ? nullptr : run->Find(tag);
  if (series == nullptr || !series->has_values) return nullptr;
  return std::get_if<Points>(&series->points);
}

Answer MissingName(const std::string* run, const std::string* tag) {
  const auto shown = [](const std::string* name) {
    return name == nullptr ? "None" : PythonQuoted(*name);
  };
  return Answer::Error(400, "Invalid argument: Both run and tag must be specified: tag=" +
                                shown(tag) + ", run=" + shown(run));
}

Answer AnswerScalars(const RunSet& runs, QueryPairs query) {
  const std::string* const run = FindInQuery(query, "run");
  const std::string* const tag = FindInQuery(query, "tag");
  if (run == nullptr || tag == nullptr) return MissingName(run, tag);
  const auto* const scalars = FindPoints<Series::Scalars>(runs, *run, *tag);
  if (scalars == nullptr) {
    return Answer::Error(404, "Not found: No scalar data for run=" + PythonQuoted(*run) +
                                  ", tag=" + PythonQuoted(*tag));
  }
  const std::string* const format = FindInQuery(query, "format");
  std::string out;
  if (format != nullptr && *format == "csv") {
    out = "Wall time,Step,Value\r\n";
    for (const Scalar& point : scalars->points()) {
      AppendPythonFloat(point.wall, &out);
      out += ',' + std::to_string(point.step) + ',';
      AppendPythonFloat(point.value, &out);
      out += "\r\n";
    }
    return {.content_type = "text/csv; charset=utf-8", .body = std::move(out)};
  }
  const auto append = [&](const Scalar& point) {
    out += '[';
    AppendJson(point.wall, &out);
    out += ',';
    AppendJson(point.step, &out);
    out += ',';
    AppendJson(point.value, &out);
    out += ']';
  };
  AppendJsonList(scalars->points(), append, &out);
  return Answer::Json(std::move(out));
}

// Which of `count` points TensorBoard shows of a series that is too long: the last, and a random
// choice of the others.
std::vector<size_t> Shown(size_t count, size_t most) {
  std::vector<size_t> indices;
  if (count <= most) {
    indices.resize(count);
    std::iota(indices.begin(), indices.end(), size_t{0});
  } else {
    indices = SortedSample(count - 1, most - 1);
    indices.push_back(count - 1);
  }
  return indices;
}

void AppendBuckets(const std::vector<Bucket>& buckets, std::string* out) {
  const auto append = [&](const Bucket& bucket) {
    *out += '[';
    AppendJson(bucket.left, out);
    *out += ',';
    AppendJson(bucket.right, out);
    *out += ',';
    AppendJson(bucket.count, out);
    *out += ']';
  };
  AppendJsonList(buckets, append, out);
}

void AppendDistribution(const std::vector<Bucket>& buckets, std::string* out) {
  const auto values = ValuesAtBasisPoints(buckets);
  *out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    *out += i == 0 ? "[" : ",[";
    *out += std::to_string(kBasisPoints[i]) + ',';
    AppendJson(values[i], out);
    *out += ']';
  }
  *out += ']';
}

Answer AnswerHistograms(const RunSet& runs, QueryPairs query, size_t most,
                        void (*append_buckets)(const std::vector<Bucket>&, std::string*)) {
  const std::string* const run = FindInQuery(query, "run");
  const std::string* const tag = FindInQuery(query, "tag");
  if (run == nullptr || tag == nullptr) return MissingName(run, tag);
  const auto* const histograms = FindPoints<Series::Histograms>(runs, *run, *tag);
  if (histograms == nullptr) {
    return Answer::Error(404, "Not found: No histogram tag " + PythonQuoted(*tag) + " for run " +
                                  PythonQuoted(*run));
  }
  std::string out;
  const auto append = [&](size_t index) {
    const Histogram& histogram = histograms->points()[index];
    out += '[';
    AppendJson(histogram.wall, &out);
    out += ',';
    AppendJson(histogram.step, &out);
    out += ',';
    append_buckets(BucketsOf(histogram), &out);
    out += ']';
  };
  AppendJsonList(Shown(histograms->points().size(), most), append, &out);
  return Answer::Json(std::move(out));
}

}  // namespace

Answer AnswerTensorBoard(const RunSet& runs, std::string_view path, QueryPairs query) {
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/data/runs") return AnswerRuns(runs);
  if (path == "/data/plugin/scalars/tags") return AnswerTags<Series::Scalars>(runs);
  if (path == "/data/plugin/scalars/scalars") return AnswerScalars(runs, query);
  if (path == "/data/plugin/histograms/tags" || path == "/data/plugin/distributions/tags") {
    return AnswerTags<Series::Histograms>(runs);
  }
  if (path == "/data/plugin/histograms/histograms") {
    return AnswerHistograms(runs, query, kHistogramsShown, AppendBuckets);
  }
  if (path == "/data/plugin/distributions/distributions") {
    return AnswerHistograms(runs, query, kHistogramsMax, AppendDistribution);
  }
  return Answer::Error(404, "Not found");
}

}  // namespace taas::dashboard
