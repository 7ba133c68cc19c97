#pragma once

#include "base/error.hpp"
#include "lock/locked_set.hpp"

#include <string>

namespace autopack::lock {

/// CPython 3.11.2 on Debian 12.
inline python::Interpreter debian_python() {
  return {.version = python::Version::parse("3.11.2").value(),
          .machine = "x86_64",
          .libc = {.kind = python::Libc::Kind::glibc, .major = 2, .minor = 36}};
}

/// Returns `name[extra]==version` of each package.
inline std::string summary(const LockedSet& set) {
  std::string text;
  for (const auto& package : set.packages) {
    text += (text.empty() ? "" : " ") + package.name;
    for (const auto& extra : package.extras) {
      text += "[" + extra + "]";
    }
    text += package.version ? "==" + package.version->str() : "";
  }
  return text;
}

/// Returns the first problem that `read` throws, with its place; empty if it does not throw.
template <class Read>
std::string refusal(Read&& read) {
  try {
    read();
    return {};
  } catch (const Error& error) {
    return error.problems().empty()
               ? error.message()
               : error.problems()[0].origin.value_or("") + ": " + error.problems()[0].message;
  }
}

/// Returns a hash of 64 equal digits: `sha256:aaa...`.
inline std::string sha256_of(char digit) {
  return "sha256:" + std::string(64, digit);
}

}  // namespace autopack::lock
