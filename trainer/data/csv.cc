#include "trainer/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "operator/base/status.h"
#include "trainer/data/line_reader.h"

namespace taas {
namespace {

// A longer value is shown by its beginning.
constexpr size_t kShownBytes = 40;

absl::Status Invalid(const std::string& why) { return absl::InvalidArgumentError(why); }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

absl::StatusOr<double> ToNumber(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return Invalid("the value is missing");
  const std::string_view shown = text.substr(0, kShownBytes);
  if (text.front() == '+') text.remove_prefix(1);  // Which from_chars does not take.
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && std::isfinite(number)) return number;
  return Invalid("want a number, it is \"" + std::string(shown) + "\"");
}

// One file: its lines as examples.
class CsvFile {
 public:
  static absl::StatusOr<CsvFile> Open(FileSystem& files, const std::string& path,
                                      const CsvOptions& options) {
    ASSIGN_OR_RETURN(auto lines, LineReader::Open(files, path, kCsvLineBytesMax));
    CsvFile file(std::move(lines), path, options);
    RETURN_IF_ERROR(file.ReadNames());
    return file;
  }

  const std::vector<std::string>& names() const { return names_; }

  // Names of the features, and the rest of the file.
  absl::Status AddTo(const std::vector<std::string>& columns, Rows* rows) {
    std::vector<size_t> places;
    for (const std::string& column : columns) {
      ASSIGN_OR_RETURN(places.emplace_back(), PlaceOf(column));
    }
    ASSIGN_OR_RETURN(const size_t label, PlaceOf(options_.label_column));
    while (!ended_) {
      RETURN_IF_ERROR(AddLine(places, label, rows));
      RETURN_IF_ERROR(NextLine());
    }
    return absl::OkStatus();
  }

 private:
  CsvFile(std::unique_ptr<LineReader> lines, std::string path, const CsvOptions& options)
      : lines_(std::move(lines)), path_(std::move(path)), options_(options) {}

  std::string Where() const {
    return "read " + path_ + ": line " + std::to_string(lines_->number());
  }

  // The next that is not empty, into values_.
  absl::Status NextLine() {
    for (;;) {
      ASSIGN_OR_RETURN(const auto line, lines_->Next());
      ended_ = !line;
      if (ended_) return absl::OkStatus();
      if (Trim(*line).empty()) continue;
      if (SplitCsvLine(*line, options_.delimiter, &values_)) return absl::OkStatus();
      return Invalid(Where() + ": a quote is not closed");
    }
  }

  absl::Status ReadNames() {
    RETURN_IF_ERROR(NextLine());
    if (ended_) return Invalid("read " + path_ + ": it has no lines");
    if (!options_.header) {
      for (size_t i = 0; i < values_.size(); ++i) names_.push_back(std::to_string(i));
      return absl::OkStatus();
    }
    for (const std::string& value : values_) {
      const std::string name(Trim(value));
      if (std::ranges::count(names_, name) > 0) {
        return Invalid(Where() + ": two columns are called \"" + name + "\"");
      }
      names_.push_back(name);
    }
    return NextLine();
  }

  absl::StatusOr<size_t> PlaceOf(const std::string& column) const {
    const auto found = std::ranges::find(names_, column);
    if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
    return Invalid("read " + path_ + ": it has no column \"" + column + "\"" +
                   (options_.header ? "" : ": without a header columns are numbers from 0 to " +
                                               std::to_string(names_.size() - 1)));
  }

  absl::Status AddLine(const std::vector<size_t>& places, size_t label, Rows* rows) {
    if (values_.size() != names_.size()) {
      return Invalid(Where() + ": it has " + std::to_string(values_.size()) + " values, want " +
                     std::to_string(names_.size()));
    }
    for (const size_t place : places) {
      ASSIGN_OR_RETURN(const double number, NumberAt(place));
      rows->values.push_back(static_cast<float>(number));
    }
    ASSIGN_OR_RETURN(const double answer, NumberAt(label));
    RETURN_IF_ERROR(rows->AddLabel(answer, options_.classes)).With(WhereIn(label));
    RETURN_IF_ERROR(rows->CheckSize()).With(Where());
    return absl::OkStatus();
  }

  absl::StatusOr<double> NumberAt(size_t place) const {
    const absl::StatusOr<double> number = ToNumber(values_[place]);
    if (!number.ok()) return Annotate(number.status(), WhereIn(place));
    return number;
  }

  std::string WhereIn(size_t place) const {
    return Where() + ", column \"" + names_[place] + "\"";
  }

  std::unique_ptr<LineReader> lines_;
  std::string path_;
  const CsvOptions& options_;
  std::vector<std::string> names_;
  std::vector<std::string> values_;  // Of the line that is looked at.
  bool ended_ = false;
};

}  // namespace

bool SplitCsvLine(std::string_view line, char delimiter, std::vector<std::string>* out) {
  size_t count = 0;
  // The strings' memory is used again from line to line.
  const auto next = [&]() -> std::string* {
    if (count == out->size()) out->emplace_back();
    std::string* value = &(*out)[count++];
    value->clear();
    return value;
  };
  std::string* value = next();
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      value->push_back(line[++i]);
    } else if (c == '"' && (quoted || value->empty())) {
      quoted = !quoted;
    } else if (c == delimiter && !quoted) {
      value = next();
    } else {
      value->push_back(c);
    }
  }
  out->resize(count);
  return !quoted;
}

absl::StatusOr<Dataset> ReadCsv(FileSystem& files, const std::vector<std::string>& paths,
                                const CsvOptions& options) {
  Rows rows;
  std::vector<std::string> columns = options.columns;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(CsvFile file, CsvFile::Open(files, path, options));
    if (columns.empty()) {
      std::ranges::copy_if(file.names(), std::back_inserter(columns),
                           [&](const std::string& name) { return name != options.label_column; });
    }
    if (columns.empty()) return Invalid("read " + path + ": it has no column but the label");
    const size_t before = rows.labels.size() + rows.targets.size();
    RETURN_IF_ERROR(file.AddTo(columns, &rows));
    if (rows.labels.size() + rows.targets.size() == before) {
      return Invalid("read " + path + ": it has no examples");
    }
  }
  return std::move(rows).Make("read " + paths.front(), std::ssize(columns), options.classes);
}

}  // namespace taas
