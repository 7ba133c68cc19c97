#include "project/conda_environment.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace autopack::project {

namespace {

/// `value` of `- value  # comment`, quotes gone.
std::string scalar(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'')) {
    const auto end = text.find(text.front(), 1);
    return std::string{text.substr(1, end == std::string_view::npos ? end : end - 1)};
  }
  return std::string{trim(text.substr(0, text.find(" #")))};
}

/// `numpy` of `conda-forge::numpy>=1.2=py310_0`.
std::string conda_name(std::string_view text) {
  const auto channel = text.rfind("::");
  text = channel == std::string_view::npos ? text : text.substr(channel + 2);
  return std::string{trim(text.substr(0, text.find_first_of("=<>!~ [")))};
}

}  // namespace

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
    if (!name.empty() && name != "python" && name != "pip") {
      environment.packages.push_back(name);
    }
  }
  return environment;
}

}  // namespace autopack::project
