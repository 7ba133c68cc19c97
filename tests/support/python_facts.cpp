// Answers questions about versions, conditions and markers, one per line, fields between tabs:
//
//     version TEXT                  the normal form
//     compare A B                   -1, 0 or 1
//     contains CONDITIONS VERSION   yes or no; `contains-pre` lets pre-releases fit
//     marker MARKER NAME=VALUE...   yes, no or unknown; `extra=NAME` asks for an extra
//
// `none` answers what cannot be read.

#include "base/text.hpp"
#include "python/marker.hpp"
#include "python/specifier.hpp"

#include <iostream>

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

std::string answer(const std::vector<std::string>& question) {
  if (question[0] == "version") {
    const auto version = Version::parse(question.at(1));
    return version ? version->str() : "none";
  }
  return question[0] == "compare"  ? compare(question)
         : question[0] == "marker" ? marker(question)
                                   : contains(question);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(split(line, '\t')) << "\n";
  }
}
