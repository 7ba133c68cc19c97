#include "python/tags.hpp"

#include "base/contains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace autopack::python {

namespace {

constexpr int first_stable_abi{2};  // of Python 3.2, PEP 384
constexpr int first_without_pymalloc{8};
constexpr int most_minors{200};

/// The glibc version of a manylinux that was named before PEP 600.
struct NamedManylinux {
  int minor;
  std::string_view name;
};

constexpr std::array<NamedManylinux, 3> named_manylinuxes{
    {{17, "manylinux2014"}, {12, "manylinux2010"}, {5, "manylinux1"}}};

bool has_manylinux(std::string_view machine) {
  static constexpr std::array<std::string_view, 9> machines{
      "x86_64", "i686", "aarch64", "armv7l", "ppc64", "ppc64le", "s390x", "loongarch64", "riscv64"};
  return contains(machines, machine);
}

std::vector<std::string> platforms_of(const std::string& machine, const Libc& libc) {
  std::vector<std::string> platforms;
  const int newest = std::min(libc.minor, most_minors);
  if (libc.kind == Libc::Kind::musl) {
    for (int minor = newest; minor >= 0; --minor) {
      platforms.push_back(fmt::format("musllinux_{}_{}_{}", libc.major, minor, machine));
    }
  } else if (libc.major == 2 && has_manylinux(machine)) {
    const int oldest = machine == "x86_64" || machine == "i686" ? 5 : 17;
    for (int minor = newest; minor >= oldest; --minor) {
      platforms.push_back(fmt::format("manylinux_2_{}_{}", minor, machine));
      for (const auto& [named_minor, name] : named_manylinuxes) {
        if (named_minor == minor) {
          platforms.push_back(fmt::format("{}_{}", name, machine));
        }
      }
    }
  }
  platforms.push_back("linux_" + machine);
  return platforms;
}

/// Returns the index of the first pair whose parts are in both sets of the wheel.
std::optional<std::size_t> first_pair(const std::vector<std::pair<std::string, std::string>>& pairs,
                                      const WheelName& wheel) {
  const auto has = [](const std::vector<std::string>& set, const std::string& one) {
    return contains(set, one);
  };
  const auto found = std::ranges::find_if(pairs, [&](const auto& pair) {
    return has(wheel.interpreters, pair.first) && has(wheel.abis, pair.second);
  });
  return found == pairs.end() ? std::nullopt
                              : std::optional{static_cast<std::size_t>(found - pairs.begin())};
}

/// Returns `py311`, `py3`, `py310` ... `py30`.
std::vector<std::string> language_tags(std::uint64_t major, int minor) {
  std::vector<std::string> tags{fmt::format("py{}{}", major, minor), fmt::format("py{}", major)};
  for (int older = minor - 1; older >= 0; --older) {
    tags.push_back(fmt::format("py{}{}", major, older));
  }
  return tags;
}

}  // namespace

AcceptedTags::AcceptedTags(const Interpreter& interpreter)
    : platforms_{platforms_of(interpreter.machine, interpreter.libc)} {
  const auto& release = interpreter.version.release;
  const std::uint64_t major = release.empty() ? 3 : release[0];
  const int minor =
      release.size() < 2 ? 0 : static_cast<int>(std::min<std::uint64_t>(release[1], most_minors));
  const bool is_cpython = interpreter.implementation == "cpython";
  const std::string own = fmt::format("cp{}{}", major, minor);
  if (is_cpython) {
    const std::string& flags = interpreter.abi_flags;
    const bool free_threaded = flags.find('t') != std::string::npos;
    binary_.emplace_back(own, own + flags);
    // A debug build also loads modules that were built without debugging.
    if (flags.find('d') != std::string::npos && (major > 3 || minor >= first_without_pymalloc)) {
      binary_.emplace_back(own, own + (free_threaded ? "t" : ""));
    }
    const bool stable = major > 3 || (major == 3 && minor >= first_stable_abi);
    const char* const abi = free_threaded ? "abi3t" : "abi3";  // PEP 803
    if (stable) {
      binary_.emplace_back(own, abi);
    }
    binary_.emplace_back(own, "none");
    for (int older = minor - 1; stable && older >= first_stable_abi; --older) {
      binary_.emplace_back(fmt::format("cp{}{}", major, older), abi);
    }
    pure_.emplace_back(own, "none");
  }
  for (auto& tag : language_tags(major, minor)) {
    binary_.emplace_back(tag, "none");
    pure_.emplace_back(std::move(tag), "none");
  }
}

std::optional<std::size_t> AcceptedTags::rank(const WheelName& wheel) const {
  if (const auto pair = first_pair(binary_, wheel)) {
    const auto fits = std::find_first_of(platforms_.begin(), platforms_.end(),
                                         wheel.platforms.begin(), wheel.platforms.end());
    if (fits != platforms_.end()) {
      return *pair * platforms_.size() + static_cast<std::size_t>(fits - platforms_.begin());
    }
  }
  const auto pair = first_pair(pure_, wheel);
  const bool anywhere = contains(wheel.platforms, "any");
  return pair && anywhere ? std::optional{binary_.size() * platforms_.size() + *pair}
                          : std::nullopt;
}

std::vector<std::string> AcceptedTags::all() const {
  std::vector<std::string> tags;
  for (const auto& [interpreter, abi] : binary_) {
    for (const auto& platform : platforms_) {
      tags.push_back(fmt::format("{}-{}-{}", interpreter, abi, platform));
    }
  }
  for (const auto& [interpreter, abi] : pure_) {
    tags.push_back(fmt::format("{}-{}-any", interpreter, abi));
  }
  return tags;
}

}  // namespace autopack::python
