#include "project/requirements/conda_environment.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

constexpr std::array environment_files{"environment.yml", "environment.yaml", "conda.yml",
                                       "conda.yaml",      "env.yml",          "env.yaml"};
constexpr std::uint64_t largest_environment_file{1'000'000};

/// Returns `value` of `- value  # comment`, without quotes.
std::string scalar(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'')) {
    const auto end = text.find(text.front(), 1);
    return std::string{text.substr(1, end == std::string_view::npos ? end : end - 1)};
  }
  return std::string{trim(text.substr(0, text.find(" #")))};
}

/// Returns `numpy` for `conda-forge::numpy>=1.2=py310_0`.
std::string conda_name(std::string_view text) {
  const auto channel = text.rfind("::");
  text = channel == std::string_view::npos ? text : text.substr(channel + 2);
  return std::string{trim(text.substr(0, text.find_first_of("=<>!~ [")))};
}

}  // namespace

std::optional<std::string> find_conda_environment(const Findings& findings) {
  const auto* const found = std::ranges::find_if(environment_files, [&](const char* name) {
    const Place place = findings.follow(name);
    return place.is_file() && place.entry.size <= largest_environment_file;
  });
  return found == environment_files.end() ? std::nullopt : std::optional<std::string>{*found};
}

CondaEnvironment read_conda_environment(std::string_view text) {
  CondaEnvironment environment;
  bool in_dependencies = false;
  std::size_t pip_indent = std::string_view::npos;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const auto indent = line.find_first_not_of(" \t\r");
    if (indent == std::string_view::npos || line[indent] == '#') {
      continue;
    }
    const auto content = trim(std::string_view{line});
    if (!content.starts_with('-')) {
      in_dependencies = content.starts_with("dependencies:");
      pip_indent = std::string_view::npos;
      continue;
    }
    if (!in_dependencies) {
      continue;
    }
    const std::string item = scalar(content.substr(1));
    if (pip_indent != std::string_view::npos && indent > pip_indent) {
      environment.pip.emplace_back(item, number);
      continue;
    }
    pip_indent = std::string_view::npos;
    if (item == "pip:") {
      pip_indent = indent;
      continue;
    }
    const std::string name = conda_name(item);
    if (name == "python") {
      environment.python = trim(std::string_view{item}.substr(item.rfind("python") + 6));
    }
    if (!name.empty() && name != "python" && name != "pip") {
      environment.packages.push_back(name);
    }
  }
  return environment;
}

}  // namespace autopack::project
