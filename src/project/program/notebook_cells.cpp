#include "base/text.hpp"
#include "project/program/notebook.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace autopack::project {

namespace {

/// The cells of a program that translate_notebook() returned.
class Cells {
public:
  Cells(std::string program, std::string notebook, std::string_view text)
      : program_{std::move(program)}, notebook_{std::move(notebook)} {
    const auto lines = split(text, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].starts_with(cell_mark)) {
        const auto number = lines[i].substr(cell_mark.size());
        cells_.emplace(static_cast<int>(i) + 1, number.substr(0, number.find(']')));
      }
    }
  }

  std::string named(std::string_view text) const {
    std::string result;
    for (auto at = text.find(program_); at != std::string_view::npos; at = text.find(program_)) {
      const bool is_whole = at == 0 || !is_alphanumeric(text.substr(at - 1, 1), "/_-.");
      auto rest = text.substr(at + program_.size());
      const auto cell = is_whole ? take_cell(rest) : std::nullopt;
      result += text.substr(0, at);
      result += cell ? notebook_ + *cell : program_;
      text = rest;
    }
    return result += text;
  }

private:
  /// Takes a line number from `rest`, the text after the program's name; returns the words for it.
  std::optional<std::string> take_cell(std::string_view& rest) const {
    for (const std::string_view begin : {"` line ", ":"}) {
      if (!rest.starts_with(begin)) {
        continue;
      }
      int line = 0;
      const auto* const first = rest.data() + begin.size();
      const auto read = std::from_chars(first, rest.data() + rest.size(), line);
      const auto after = cells_.upper_bound(line);
      if (read.ec != std::errc{} || after == cells_.begin()) {
        return std::nullopt;
      }
      const auto& [start, cell] = *std::prev(after);
      rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
      return fmt::format("{} cell {}{}{}", begin == ":" ? "" : "`", cell,
                         begin == ":" ? ":" : " line ", line - start);
    }
    return std::nullopt;
  }

  static constexpr std::string_view cell_mark{"# %% [cell "};

  std::string program_;
  std::string notebook_;
  std::map<int, std::string> cells_{};  ///< by the line of their mark, 1-based
};

}  // namespace

void name_cells(Problems& problems, const source::Tree& tree, const Project& project) {
  const auto& program = project.entry.file;
  const auto place = project.notebook && program ? tree.find(*program) : std::nullopt;
  if (!place || problems.empty()) {
    return;
  }
  const Cells cells{*program, *project.notebook, tree.read(place->path)};
  for (auto& problem : problems) {
    problem.message = cells.named(problem.message);
    if (problem.origin) {
      problem.origin = cells.named(*problem.origin);
    }
    if (problem.reason) {
      problem.reason = cells.named(*problem.reason);
    }
  }
}

}  // namespace autopack::project
