#include "cli/unknown_variables.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace autopack::cli {

namespace {

constexpr std::string_view prefix{"AUTOPACK_"};

std::vector<std::string> variables_of_all(const std::vector<FlagHelp>& flags) {
  std::vector<std::string> names;
  std::ranges::transform(flags, std::back_inserter(names),
                         [](const FlagHelp& flag) { return variable_of(flag.long_name); });
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return contains(names, name);
}

}  // namespace

Problems unknown_variables(const FlagSet& flags, const Environment& environment) {
  const auto own = variables_of_all(flags.help());
  std::vector<std::string> others;
  Problems problems;
  for (const auto& [name, value] : environment.all()) {
    if (!name.starts_with(prefix) || contains(own, name)) {
      continue;
    }
    if (others.empty()) {
      others = variables_of_all(flags_of_all_commands());
    }
    if (contains(others, name)) {
      continue;
    }
    if (const auto near = nearest(name, others)) {
      problems.push_back(
          Problem::warning({.message = fmt::format("no flag takes its value from the variable `{}`",
                                                   printable(name)),
                            .hints = {fmt::format("did you mean `{}`?", *near)}}));
    }
  }
  return problems;
}

}  // namespace autopack::cli
