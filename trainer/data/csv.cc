#include "trainer/data/csv.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "operator/base/closest_name.h"
#include "operator/base/status.h"
#include "trainer/data/empty_files.h"
#include "trainer/data/foreign_file.h"
#include "trainer/data/line_reader.h"
#include "trainer/data/number_text.h"
#include "trainer/formats/file_kind.h"

namespace taas {
namespace {

// Of a first line's names that a message shows: enough to see what is wrong.
constexpr size_t kShownNamesMax = 20;
constexpr size_t kShownNameMax = 80;

absl::Status Invalid(const std::string& why) { return absl::InvalidArgumentError(why); }

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
  // No examples, or no more.
  bool ended() const { return ended_; }

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
    if (ended_) return absl::OkStatus();
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
    if (!options_.header) {
      return Invalid("read " + path_ + ": it has no column \"" + column +
                     "\": without a header columns are numbers from 0 to " +
                     std::to_string(names_.size() - 1));
    }
    const std::string meant = DidYouMean(column, names_);
    return Invalid("read " + path_ + ": it has no column \"" + column + "\"" +
                   (meant.empty() ? "" : " (" + meant + ")") + "; its first line has " +
                   ShownNames() + FirstLineAdvice());
  }

  std::string ShownNames() const {
    std::string out;
    for (size_t i = 0; i < std::min(names_.size(), kShownNamesMax); ++i) {
      out += (i == 0 ? "\"" : ", \"") + names_[i].substr(0, kShownNameMax) + "\"";
    }
    const size_t more = names_.size() - std::min(names_.size(), kShownNamesMax);
    return more == 0 ? out : out + " and " + std::to_string(more) + " more";
  }

  // What a first line without the column probably is: split at another character, or an example.
  std::string FirstLineAdvice() const {
    if (names_.size() == 1) {
      for (const char character : {',', ';', '\t', '|'}) {
        const bool there = names_[0].find(character) != std::string::npos;
        if (character == options_.delimiter || !there) continue;
        const std::string shown = character == '\t' ? "\\t" : std::string(1, character);
        return "; is data.csv.delimiter \"" + shown + "\"?";
      }
    }
    const bool numbers = std::ranges::all_of(
        names_, [](const std::string& name) { return ParseNumber(name).ok(); });
    return numbers ? "; if it is no header, set data.csv.header: false" : "";
  }

  absl::Status AddLine(const std::vector<size_t>& places, size_t label, Rows* rows) {
    if (values_.size() != names_.size()) {
      return Invalid(Where() + ": it has " + std::to_string(values_.size()) + " values, want " +
                     std::to_string(names_.size()));
    }
    RETURN_IF_ERROR(AddFeatures(places, rows));
    const absl::StatusOr<double> answer = NumberAt(label);
    if (!answer.ok()) return OfLabel(answer.status(), label);
    RETURN_IF_ERROR(rows->AddLabel(*answer, options_.classes)).With(WhereIn(label));
    RETURN_IF_ERROR(rows->CheckSize()).With(Where());
    return absl::OkStatus();
  }

  absl::Status AddFeatures(const std::vector<size_t>& places, Rows* rows) {
    if (options_.ids) {
      for (const size_t place : places) {
        const absl::StatusOr<int64_t> id = ParseWhole(values_[place]);
        if (!id.ok()) return Annotate(id.status(), WhereIn(place));
        rows->ids.push_back(*id);
      }
      return absl::OkStatus();
    }
    if (options_.feature_columns == nullptr) {
      for (const size_t place : places) {
        const absl::StatusOr<double> number = NumberAt(place);
        if (!number.ok()) return Annotated(number.status(), place);
        rows->values.push_back(static_cast<float>(*number));
        // Of a number that only 64 bits hold.
        RETURN_IF_ERROR(CheckFinite(rows->values.back())).With(WhereIn(place));
      }
      return absl::OkStatus();
    }
    source_values_.clear();
    for (const size_t place : places) {
      const std::string_view text = Trim(values_[place]);
      source_values_.push_back(text.empty() ? SourceValue() : SourceValue(text));
    }
    return Annotate(options_.feature_columns->Encode(source_values_, &rows->values, &rows->ids),
                    Where());
  }

  // Of a feature that is a text, what becomes of texts.
  absl::Status Annotated(const absl::Status& status, size_t place) const {
    if (Trim(values_[place]).empty()) return status;
    return Invalid(std::string(status.message()) + "; texts become numbers by data.columns "
                   "(type vocabulary or hashed), and data.csv.columns leaves a column out");
  }

  // Of a label that is a text, what labels are.
  absl::Status OfLabel(const absl::Status& status, size_t place) const {
    if (Trim(values_[place]).empty() || options_.classes == 0) return status;
    return Invalid(std::string(status.message()) + "; labels are whole numbers from 0: write 0 and "
                   "1 for no and yes");
  }

  absl::StatusOr<double> NumberAt(size_t place) const {
    const absl::StatusOr<double> number = ParseNumber(values_[place]);
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
  std::vector<SourceValue> source_values_;
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

namespace {

// What is read so far, of all files.
struct Table {
  std::vector<std::string> columns;  // Of the features; empty: those of the first file with lines.
  Rows rows;
  EmptyFiles empty;
};

absl::Status AddFile(FileSystem& files, const std::string& path, const CsvOptions& options,
                     Table* table) {
  ASSIGN_OR_RETURN(CsvFile file, CsvFile::Open(files, path, options));
  if (file.ended()) {
    table->empty.Add(path);
    return absl::OkStatus();
  }
  std::vector<std::string>& columns = table->columns;
  if (columns.empty()) {
    std::ranges::copy_if(file.names(), std::back_inserter(columns),
                         [&](const std::string& name) { return name != options.label_column; });
  }
  if (columns.empty()) return Invalid("read " + path + ": it has no column but the label");
  return file.AddTo(columns, &table->rows);
}

}  // namespace

absl::StatusOr<Dataset> ReadCsv(FileSystem& files, const std::vector<std::string>& paths,
                                const CsvOptions& options) {
  const FeatureColumns* const encoded = options.feature_columns.get();
  Table table;
  table.columns = encoded == nullptr ? options.columns : encoded->sources();
  for (const std::string& path : paths) {
    RETURN_IF_ERROR(
        NameForeign(files, path, FileKind::kText, AddFile(files, path, options, &table)));
  }
  RETURN_IF_ERROR(table.empty.Tell(paths.size()));
  Rows& rows = table.rows;
  const std::string name = "read " + paths.front();
  Rows::Width width{.features = std::ssize(table.columns)};
  if (encoded != nullptr) {
    width = {std::ssize(encoded->shapes()) - encoded->ids(), encoded->ids()};
  } else if (options.ids) {
    width = {0, width.features};
  }
  ASSIGN_OR_RETURN(Dataset set, std::move(rows).Make(name, width, options.classes));
  if (encoded != nullptr) set.set_columns(encoded->shapes());
  return set;
}

}  // namespace taas
