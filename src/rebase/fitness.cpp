#include "rebase/fitness.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "python/interpreter.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace autopack::rebase {

namespace {

using python::Interpreter;
using python::Libc;
using python::Version;

/// Further packages are counted, not named.
constexpr std::size_t most_named{10};

/// Returns `the platform is linux/arm64 instead of linux/amd64`.
std::string changed(const std::string& what, const std::string& before, const std::string& after) {
  const auto text = [](const std::string& value) {
    return value.empty() ? std::string{"absent"} : fmt::format("`{}`", printable(value));
  };
  return fmt::format("{} is {} instead of {}", what, text(after), text(before));
}

std::string to_text(const Libc& libc) {
  return fmt::format("{} {}.{}", libc.kind == Libc::Kind::musl ? "musl" : "glibc", libc.major,
                     libc.minor);
}

std::vector<std::uint64_t> minor_of(const Version& version) {
  auto release = version.release;
  release.resize(2);
  return release;
}

/// Releases of one minor version have the same ABI, byte code and directories. An older one may
/// lack what the program or a package needs.
bool is_good_version(const Version& before, const Version& after) {
  return minor_of(before) == minor_of(after) && !(after < before);
}

/// A program that was linked with a C library needs that version or a newer one. The layers' wheels
/// were chosen for the old base's version.
bool is_good_libc(const Libc& before, const Libc& after) {
  return before.kind == after.kind &&
         std::tie(after.major, after.minor) >= std::tie(before.major, before.minor);
}

void compare_interpreters(const Interpreter& before,
                          const Interpreter& after,
                          std::vector<std::string>& found) {
  if (!is_good_version(before.version, after.version)) {
    found.push_back(changed("the version of Python", before.version.str(), after.version.str()) +
                    "; only a newer release of the same minor version fits");
  }
  if (!is_good_libc(before.libc, after.libc)) {
    found.push_back(changed("the C library", to_text(before.libc), to_text(after.libc)) +
                    "; only the same one in the same or a newer version fits");
  }
  const auto compare = [&](const char* what, const std::string& one, const std::string& other) {
    if (one != other) {
      found.push_back(changed(what, one, other));
    }
  };
  compare("the implementation of Python", before.implementation, after.implementation);
  compare("the ABI of Python", before.abi_flags, after.abi_flags);
  compare("the processor of Python", before.machine, after.machine);
  compare("the interpreter", before.executable, after.executable);
  compare("the directory of packages", before.scheme.purelib, after.scheme.purelib);
  compare("the directory of compiled packages", before.scheme.platlib, after.scheme.platlib);
  compare("the directory of commands", before.scheme.scripts, after.scheme.scripts);
  compare("the directory of headers", before.scheme.headers, after.scheme.headers);
  compare("the directory of data", before.scheme.data, after.scheme.data);
}

/// The versions of distributions, by name and directory.
using Installed = std::map<std::pair<std::string, std::string>, std::string>;

Installed installed_in(const executor::PythonFacts& python) {
  Installed installed;
  for (const auto& one : python.installed) {
    installed.insert_or_assign(std::pair{one.name, one.directory}, one.version.value_or(""));
  }
  return installed;
}

/// The layers complete some of the old base's packages, and remove others: with other versions
/// below, an import may find the wrong one, or two. A package that only the new base has may be one
/// of the layers' own.
void compare_packages(const executor::PythonFacts& before,
                      const executor::PythonFacts& after,
                      const OwnPackages& packages,
                      std::vector<std::string>& found) {
  const auto old_ones = installed_in(before);
  const auto new_ones = installed_in(after);
  std::vector<std::string> all;
  for (const auto& [key, version] : old_ones) {
    if (packages.of_base && !packages.of_base->contains(key.first)) {
      continue;
    }
    const auto there = new_ones.find(key);
    const auto what = fmt::format("the package `{}` of `{}`", printable(key.first), key.second);
    if (there == new_ones.end() || there->second != version) {
      all.push_back(changed(what, version, there == new_ones.end() ? "" : there->second));
    }
  }
  for (const auto& [key, version] : new_ones) {
    if (!old_ones.contains(key)) {
      all.push_back(changed(
          fmt::format("the package `{}` of `{}`", printable(key.first), key.second), "", version));
    }
  }
  for (std::size_t i = 0; i < all.size() && i < most_named; ++i) {
    found.push_back(std::move(all[i]));
  }
  if (all.size() > most_named) {
    found.push_back(fmt::format("{} further packages differ", all.size() - most_named));
  }
}

/// Returns the user of a base: nothing, `root` and `0` are the same.
std::string user_of(const BaseSide& side) {
  const auto& user = side.facts.user;
  return user.empty() || user == "0" ? "root" : user;
}

/// A directory that only the old base has would be made without the mode that it had there.
void compare_directories(const executor::PythonFacts& before,
                         const executor::PythonFacts& after,
                         std::vector<std::string>& found) {
  for (const auto& directory : before.directories) {
    if (!contains(after.directories, directory)) {
      found.push_back(
          fmt::format("the directory `{}`, which packages are in, is missing", directory));
      return;
    }
  }
}

}  // namespace

std::vector<std::string> misfits(const BaseSide& before,
                                 const BaseSide& after,
                                 const OwnPackages& packages) {
  std::vector<std::string> found;
  if (before.facts.platform != after.facts.platform) {
    found.push_back(changed("the platform", before.facts.platform, after.facts.platform));
  }
  // Whether others may write to the image's directories was decided for the old base's user.
  if (user_of(before) != user_of(after)) {
    found.push_back(changed("the user", user_of(before), user_of(after)));
  }
  const auto& old_python = before.python.interpreter;
  const auto& new_python = after.python.interpreter;
  if (before.facts.python != after.facts.python) {
    found.push_back(changed("the name of Python", before.facts.python.value_or(""),
                            after.facts.python.value_or("")));
  } else if (old_python && new_python) {
    compare_interpreters(*old_python, *new_python, found);
    if (before.python.search_path != after.python.search_path) {
      found.push_back(changed("the search path of Python", join(before.python.search_path, ":"),
                              join(after.python.search_path, ":")));
    }
  } else if (old_python.has_value() != new_python.has_value() || packages.installed) {
    const auto& side = old_python ? after : before;
    found.push_back(fmt::format("the Python of `{}` is not known: {}",
                                printable(side.facts.reference),
                                side.python.obstacle.value_or("it has none")));
  }
  const bool is_comparable = before.python.search_path == after.python.search_path;
  if (packages.installed && is_comparable) {
    compare_packages(before.python, after.python, packages, found);
    compare_directories(before.python, after.python, found);
  }
  return found;
}

}  // namespace autopack::rebase
