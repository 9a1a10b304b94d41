#include "trainer/inspect/tensor_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/checkpoint/element_convert.h"

namespace taas {
namespace {

// Elements that are converted at a time: a large tensor is not held a second time as doubles.
constexpr size_t kChunkElements = 65'536;
// Of a tensor of strings, beside its name.
constexpr size_t kStringsShown = 3;
constexpr size_t kStringBytesShown = 24;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string FirstStrings(const std::vector<std::string>& strings) {
  std::string out;
  for (size_t i = 0; i < std::min(strings.size(), kStringsShown); ++i) {
    out += (i == 0 ? "" : ", ") +
           nlohmann::json(strings[i].substr(0, kStringBytesShown))
               .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  return out + (strings.size() > kStringsShown ? ", …" : "");
}

size_t Columns(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

void Measure(const TensorValue& value, TensorFacts* facts) {
  facts->values = MeasureValues(value);
  if (value.type == ElementType::kString) facts->remark = FirstStrings(value.strings);
}

}  // namespace

std::optional<ValueFacts> MeasureValues(const TensorValue& tensor) {
  const size_t element = static_cast<size_t>(ElementBytes(tensor.type));
  if (element == 0) return std::nullopt;
  ValueFacts facts;
  double sum = 0;
  std::vector<double> chunk(kChunkElements);
  const std::string_view bytes = tensor.bytes;
  for (size_t done = 0; done < bytes.size(); done += kChunkElements * element) {
    const std::string_view part = bytes.substr(done, kChunkElements * element);
    chunk.resize(part.size() / element);
    if (!ToDoubles(tensor.type, part, chunk).ok()) return std::nullopt;
    for (const double value : chunk) {
      if (!std::isfinite(value)) {
        ++facts.others;
        continue;
      }
      facts.min = facts.finite == 0 ? value : std::min(facts.min, value);
      facts.max = facts.finite == 0 ? value : std::max(facts.max, value);
      sum += value;
      ++facts.finite;
    }
  }
  if (facts.finite > 0) facts.mean = sum / static_cast<double>(facts.finite);
  return facts;
}

absl::StatusOr<std::vector<TensorFacts>> FactsOfCheckpoint(const BundleReader& reader,
                                                           bool with_values) {
  std::vector<TensorFacts> all;
  for (const auto& [name, entry] : reader.entries()) {
    TensorFacts facts{.name = name,
                      .dtype = ElementTypeName(entry.type),
                      .shape = entry.shape,
                      .bytes = entry.size};
    if (entry.partitioned) facts.remark = "partitioned";
    const bool known = entry.type == ElementType::kString || ElementBytes(entry.type) != 0;
    if (with_values && known && !entry.partitioned) {
      ASSIGN_OR_RETURN(const TensorValue value, reader.Read(name));
      Measure(value, &facts);
    }
    all.push_back(std::move(facts));
  }
  return all;
}

absl::StatusOr<std::vector<TensorFacts>> FactsOfSafetensors(const SafetensorsReader& reader,
                                                            bool with_values) {
  std::vector<TensorFacts> all;
  for (const auto& [name, entry] : reader.entries()) {
    TensorFacts facts{.name = name,
                      .dtype = entry.dtype,
                      .shape = entry.shape,
                      .bytes = static_cast<int64_t>(entry.size)};
    if (with_values && entry.readable) {
      ASSIGN_OR_RETURN(const TensorValue value, reader.Read(name));
      Measure(value, &facts);
    }
    all.push_back(std::move(facts));
  }
  return all;
}

std::string TableOf(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i) {
      line += " " + row[i] + std::string(widths[i] - Columns(row[i]) + 1, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string TableOf(const std::vector<TensorFacts>& facts) {
  if (facts.empty()) return "";
  const auto has = [&](auto what) { return std::ranges::any_of(facts, what); };
  const bool values = has([](const TensorFacts& f) { return f.values.has_value(); });
  const bool remarks = has([](const TensorFacts& f) {
    return !f.remark.empty() || (f.values && f.values->others > 0);
  });
  std::vector<std::vector<std::string>> rows = {{"NAME", "DTYPE", "SHAPE", "BYTES"}};
  if (values) rows[0].insert(rows[0].end(), {"MIN", "MEAN", "MAX"});
  if (remarks) rows[0].push_back("REMARK");
  for (const TensorFacts& tensor : facts) {
    std::vector<std::string> row = {tensor.name, tensor.dtype, ShapeText(tensor.shape),
                                    std::to_string(tensor.bytes)};
    const std::optional<ValueFacts>& of = tensor.values;
    if (values && of && of->finite > 0) {
      row.insert(row.end(), {Number(of->min), Number(of->mean), Number(of->max)});
    } else if (values) {
      row.insert(row.end(), {"-", "-", "-"});
    }
    std::string remark = tensor.remark;
    if (of && of->others > 0) remark = std::to_string(of->others) + " not finite";
    if (remarks) row.push_back(remark);
    rows.push_back(std::move(row));
  }
  return TableOf(rows);
}

nlohmann::json JsonOf(const std::vector<TensorFacts>& facts) {
  nlohmann::json list = nlohmann::json::array();
  for (const TensorFacts& tensor : facts) {
    nlohmann::json one = {{"name", tensor.name},
                          {"dtype", tensor.dtype},
                          {"shape", tensor.shape},
                          {"bytes", tensor.bytes}};
    if (!tensor.remark.empty()) one["remark"] = tensor.remark;
    if (tensor.values && tensor.values->finite > 0) {
      one["min"] = tensor.values->min;
      one["mean"] = tensor.values->mean;
      one["max"] = tensor.values->max;
    }
    if (tensor.values && tensor.values->others > 0) one["notFinite"] = tensor.values->others;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace taas
