#include "cli/table.h"

#include <algorithm>

#include "operator/base/terminal_text.h"

namespace taas {
namespace {

// As wide as a terminal shows it: one column for each character of UTF-8.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string FormatTable(const std::vector<std::vector<std::string>>& rows,
                        const std::string& margin) {
  constexpr size_t kGap = 3;
  std::vector<size_t> widths;
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    std::vector<std::string>& shown = cells.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      shown.push_back(row[i].empty() ? "-" : TerminalCell(row[i]));
      widths[i] = std::max(widths[i], Width(shown[i]));
    }
  }
  std::string text;
  for (const auto& row : cells) {
    text += margin;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string& cell = row[i];
      text += cell;
      if (i + 1 < row.size()) text.append(widths[i] - Width(cell) + kGap, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace taas
