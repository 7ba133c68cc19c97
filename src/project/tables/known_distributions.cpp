#include "project/tables/known_distributions.hpp"

#include "base/text.hpp"
#include "project/tables/tables.hpp"
#include "python/name.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace autopack::project {

namespace {

/// Returns the row of the longest part of the dotted `module` in the table.
std::string_view row_of(std::string_view module) {
  for (std::string_view name = module; !name.empty();) {
    const auto rows = modules_of_other_names();
    const auto found =
        std::ranges::find_if(rows, [&](const auto& row) { return row.first == name; });
    if (found != rows.end()) {
      return found->second;
    }
    const auto dot = name.rfind('.');
    name = dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
  }
  return {};
}

/// Returns the PEP 503 name of a word of a row.
std::string name_in(std::string_view word) {
  return python::normalise_name(word.substr(0, word.find('<')));
}

std::string_view top_level(std::string_view module) {
  return module.substr(0, module.find('.'));
}

bool has_same_name(std::string_view module) {
  return std::ranges::binary_search(modules_of_same_names(), top_level(module));
}

/// Returns `named` and everything that they are known to require.
std::set<std::string, std::less<>> with_requirements(const std::vector<std::string>& named) {
  std::set<std::string, std::less<>> all;
  std::vector<std::string> waiting{named};
  const auto rows = known_requirements();
  while (!waiting.empty()) {
    std::string name = std::move(waiting.back());
    waiting.pop_back();
    const auto row = std::ranges::find_if(rows, [&](const auto& one) { return one.first == name; });
    if (all.insert(std::move(name)).second && row != rows.end()) {
      const auto more = split(row->second, ' ');
      waiting.insert(waiting.end(), more.begin(), more.end());
    }
  }
  return all;
}

/// Returns names that a distribution would have if named after the module: `google-cloud-tasks`,
/// `helper`.
std::vector<std::string> likely_names(std::string_view module) {
  if (!module.starts_with("google.")) {
    return {python::normalise_name(top_level(module))};
  }
  std::vector<std::string> names;
  const std::size_t shared = module.starts_with("google.cloud.") ? 13 : 7;
  for (auto end = module.find('.', shared); end != std::string_view::npos;
       end = module.find('.', end + 1)) {
    names.push_back(python::normalise_name(module.substr(0, end)));
  }
  names.push_back(python::normalise_name(module));
  return names;
}

/// Returns true for `gpu`: a build of a known distribution for some hardware; false for `geometric`
/// of `torch-geometric`, which is another package.
bool is_build(std::string_view suffix) {
  static constexpr std::array<std::string_view, 7> words{"cpu",    "gpu",      "cu",     "rocm",
                                                         "binary", "headless", "nightly"};
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return suffix.starts_with(word); });
}

}  // namespace

std::vector<std::string> distributions_of(std::string_view module) {
  std::vector<std::string> names;
  for (const auto& name : split(row_of(module), ' ')) {
    if (!name.empty() && name != "-") {
      names.push_back(name_in(name));
    }
  }
  if (names.empty() && has_same_name(module)) {
    names.push_back(python::normalise_name(top_level(module)));
  }
  return names;
}

std::vector<std::string> modules_of(std::string_view distribution) {
  std::vector<std::string> modules;
  for (const auto& [module, row] : modules_of_other_names()) {
    const auto names = split(row, ' ');
    if (std::ranges::any_of(names,
                            [&](const auto& name) { return name_in(name) == distribution; })) {
      modules.emplace_back(module);
    }
  }
  const std::string same = replace_all(std::string{distribution}, "-", "_");
  if (has_same_name(same)) {
    modules.push_back(same);
  }
  return modules;
}

std::optional<std::string> usual_distribution(std::string_view module) {
  if (const auto row = row_of(module); !row.empty()) {
    return row.front() == '-' ? std::nullopt
                              : std::optional{std::string{row.substr(0, row.find(' '))}};
  }
  return has_same_name(module)
             ? std::optional{replace_all(std::string{top_level(module)}, "_", "-")}
             : std::nullopt;
}

std::optional<std::string> nearest_module(std::string_view module) {
  constexpr std::size_t shortest{4};
  const auto name = top_level(module);
  if (name.size() < shortest || !distributions_of(module).empty()) {
    return std::nullopt;
  }
  const auto same = modules_of_same_names();
  std::vector<std::string_view> candidates(same.begin(), same.end());
  for (const auto& [other, row] : modules_of_other_names()) {
    if (other.find('.') == std::string_view::npos) {
      candidates.emplace_back(other);
    }
  }
  // A single typo; a name at distance two may well be another package.
  const auto near = std::ranges::find_if(
      candidates, [&](const auto& other) { return edit_distance(name, other) == 1; });
  return near == candidates.end() ? std::nullopt : std::optional{std::string{*near}};
}

bool is_brought_by(std::string_view module, const std::vector<std::string>& named) {
  const auto all = with_requirements(named);
  const auto known = distributions_of(module);
  if (std::ranges::any_of(known, [&](const std::string& name) { return all.contains(name); })) {
    return true;
  }
  const auto likely = likely_names(module);
  return std::ranges::any_of(named, [&](const std::string& name) {
    return std::ranges::any_of(likely, [&](const std::string& one) {
      return name == one || (name.starts_with(one + "-") &&
                             (known.empty() || is_build(name.substr(one.size() + 1))));
    });
  });
}

bool is_known_distribution(std::string_view name) {
  static const std::set<std::string, std::less<>> names = [] {
    std::set<std::string, std::less<>> all;
    for (const auto& [module, row] : modules_of_other_names()) {
      for (const auto& one : split(row, ' ')) {
        all.insert(name_in(one));
      }
    }
    for (const auto one : modules_of_same_names()) {
      all.insert(python::normalise_name(one));
    }
    return all;
  }();
  return names.contains(name);
}

}  // namespace autopack::project
