#include "wheel/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::wheel {

namespace {

/// The number of bytes that Linux reads of a script's first line, including the `#!` and the line
/// end.
constexpr std::size_t longest_first_line{127};

std::string first_lines(std::string_view executable) {
  const bool has_blank = executable.find(' ') != std::string_view::npos;
  if (!has_blank && executable.size() + 3 <= longest_first_line) {
    return fmt::format("#!{}\n", executable);
  }
  return fmt::format("#!/bin/sh\n'''exec' {0}{1}{0} \"$0\" \"$@\"\n' '''\n", has_blank ? "\"" : "",
                     executable);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// True for `3.11`, and for `3` if `may_be_short`.
bool is_short_version(std::string_view text, bool may_be_short) {
  const auto dot = text.find('.');
  return is_digits(text.substr(0, dot)) &&
         (dot == std::string_view::npos ? may_be_short : is_digits(text.substr(dot + 1)));
}

/// True for the names that a wheel of pip or easy_install uses for one version of Python: the one
/// that made the wheel.
bool is_versioned(std::string_view name, std::string_view program) {
  if (!name.starts_with(program)) {
    return false;
  }
  const auto rest = name.substr(program.size());
  if (program == "pip") {
    return rest.empty() || is_short_version(rest, true);
  }
  return rest.empty() || (rest.starts_with('-') && is_short_version(rest.substr(1), false));
}

}  // namespace

std::string launcher_text(const EntryPoint& entry, std::string_view executable) {
  return first_lines(executable) +
         fmt::format(
             "import sys\n"
             "from {} import {}\n"
             "if __name__ == '__main__':\n"
             "    sys.argv[0] = sys.argv[0].removesuffix('.exe')\n"
             "    sys.exit({}())\n",
             entry.module, entry.callable.substr(0, entry.callable.find('.')), entry.callable);
}

std::vector<EntryPoint> launchers(const EntryPoints& entry_points, const python::Version& version) {
  const auto major = version.release.empty() ? 0 : version.release[0];
  const auto minor = version.release.size() < 2 ? 0 : version.release[1];
  const std::string short_version = fmt::format("{}.{}", major, minor);
  auto console = entry_points.console;
  std::vector<EntryPoint> made;
  const auto add_versions = [&](std::string_view program, const std::vector<std::string>& names) {
    const auto found = std::ranges::find_if(
        console, [&](const EntryPoint& entry) { return entry.name == program; });
    if (found == console.end()) {
      return;
    }
    const EntryPoint entry = *found;
    for (const auto& name : names) {
      made.push_back({.name = name, .module = entry.module, .callable = entry.callable});
    }
    std::erase_if(console,
                  [&](const EntryPoint& other) { return is_versioned(other.name, program); });
  };
  add_versions("pip", {"pip", fmt::format("pip{}", major), "pip" + short_version});
  add_versions("easy_install", {"easy_install", "easy_install-" + short_version});
  made.insert(made.end(), console.begin(), console.end());
  made.insert(made.end(), entry_points.gui.begin(), entry_points.gui.end());
  return made;
}

}  // namespace autopack::wheel
