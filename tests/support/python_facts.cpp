// Answers questions about versions, conditions and markers, one per line, fields between tabs:
//
//     version TEXT                  the normal form
//     compare A B                   -1, 0 or 1
//     contains CONDITIONS VERSION   yes or no; `contains-pre` lets pre-releases fit
//     marker MARKER NAME=VALUE...   yes, no or unknown; `extra=NAME` asks for an extra
//     wheel FILE                    name, version, build tag and tags
//     tags VERSION FLAGS MACHINE LIBC           all tags; LIBC is `glibc 2 36`
//     select VERSION FLAGS MACHINE LIBC PIN HASHES FILE...  likewise of files of `pkg`, each as
//                                   `NAME|HASHES|REQUIRES-PYTHON|yanked`, hashes as single digits
//     choose VERSION FLAGS MACHINE LIBC FILE... the place of the best of these wheels
//
// Prints `none` for unreadable input.

#include "base/text.hpp"
#include "lock/select.hpp"
#include "python/marker.hpp"
#include "python/specifier.hpp"
#include "python/tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <limits>

using namespace autopack;
using namespace autopack::python;

namespace {

std::string yes_or_no(std::optional<bool> answer) {
  return !answer ? "unknown" : *answer ? "yes" : "no";
}

std::string contains(const std::vector<std::string>& question) {
  const auto conditions = SpecifierSet::parse(question.at(1));
  const auto version = Version::parse(question.at(2));
  const auto prereleases = question[0] == "contains" ? Prereleases::as_named : Prereleases::allowed;
  return conditions && version ? yes_or_no(conditions->contains(*version, prereleases)) : "none";
}

std::string compare(const std::vector<std::string>& question) {
  const auto a = Version::parse(question.at(1));
  const auto b = Version::parse(question.at(2));
  return !a || !b ? "none" : *a < *b ? "-1" : *b < *a ? "1" : "0";
}

std::string marker(const std::vector<std::string>& question) {
  const auto parsed = Marker::parse(question.at(1));
  if (!parsed) {
    return "none";
  }
  MarkerEnvironment environment;
  for (std::size_t i = 2; i < question.size(); ++i) {
    const auto equals = question[i].find('=');
    const std::string name = question[i].substr(0, equals);
    if (name == "extra") {
      environment.extras.push_back(question[i].substr(equals + 1));
    } else {
      environment.variables[name] = question[i].substr(equals + 1);
    }
  }
  return yes_or_no(parsed->holds_in(environment));
}

std::string wheel(const std::vector<std::string>& question) {
  const auto name = WheelName::parse(question.at(1));
  if (!name) {
    return "none";
  }
  std::vector<std::string> tags;
  for (const auto& interpreter : name->interpreters) {
    for (const auto& abi : name->abis) {
      for (const auto& platform : name->platforms) {
        tags.push_back(fmt::format("{}-{}-{}", interpreter, abi, platform));
      }
    }
  }
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  const std::string build =
      name->build ? fmt::format("{}{}", name->build->first, name->build->second) : "-";
  return fmt::format("{} {} {} {}", name->name, name->version.str(), build, join(tags, " "));
}

Interpreter target(const std::vector<std::string>& question) {
  const auto libc = split(question.at(4), ' ');
  return {.version = Version::parse(question.at(1)).value(),
          .abi_flags = question.at(2),
          .machine = question.at(3),
          .libc = {.kind = libc.at(0) == "musl" ? Libc::Kind::musl : Libc::Kind::glibc,
                   .major = std::stoi(libc.at(1)),
                   .minor = std::stoi(libc.at(2))}};
}

AcceptedTags accepted(const std::vector<std::string>& question) {
  return AcceptedTags{target(question)};
}

std::vector<Hash> hashes_of(const std::string& digits) {
  std::vector<Hash> hashes;
  for (const char digit : digits) {
    hashes.push_back({"sha256", std::string(64, digit)});
  }
  return hashes;
}

std::string select(const std::vector<std::string>& question) {
  const lock::LockedPackage package{.name = "pkg",
                                    .version = Version::parse(question.at(5)),
                                    .hashes = hashes_of(question.at(6))};
  std::vector<lock::Candidate> candidates;
  for (std::size_t i = 7; i < question.size(); ++i) {
    const auto parts = split(question[i], '|');
    candidates.push_back({.name = parts.at(0),
                          .hashes = hashes_of(parts.at(1)),
                          .requires_python = non_empty(parts.at(2)),
                          .yanked = parts.at(3) == "yanked"});
  }
  const auto selection = lock::FileChooser{target(question)}.choose(package, candidates);
  return selection.chosen ? std::to_string(*selection.chosen) : "none";
}

/// Returns the index of the wheel that pip installs: the best tag, then the highest build tag, then
/// the first.
std::optional<std::size_t> best_wheel(const AcceptedTags& tags,
                                      const std::vector<WheelName>& wheels) {
  std::optional<std::size_t> best;
  std::size_t best_rank{std::numeric_limits<std::size_t>::max()};
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    const auto rank = tags.rank(wheels[i]);
    if (!rank) {
      continue;
    }
    if (!best || *rank < best_rank ||
        (*rank == best_rank && wheels[i].build > wheels[*best].build)) {
      best = i;
      best_rank = *rank;
    }
  }
  return best;
}

std::string choose(const std::vector<std::string>& question) {
  std::vector<WheelName> wheels;
  for (std::size_t i = 5; i < question.size(); ++i) {
    wheels.push_back(WheelName::parse(question[i]).value());
  }
  const auto best = best_wheel(accepted(question), wheels);
  return best ? std::to_string(*best) : "none";
}

std::string answer(const std::vector<std::string>& question) {
  if (question[0] == "version") {
    const auto version = Version::parse(question.at(1));
    return version ? version->str() : "none";
  }
  return question[0] == "compare"  ? compare(question)
         : question[0] == "marker" ? marker(question)
         : question[0] == "wheel"  ? wheel(question)
         : question[0] == "tags"   ? join(accepted(question).all(), " ")
         : question[0] == "choose" ? choose(question)
         : question[0] == "select" ? select(question)
                                   : contains(question);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(split(line, '\t')) << "\n";
  }
}
