#include "job/flag_value.hpp"

#include "base/text.hpp"
#include "job/flag_values.hpp"

#include <algorithm>
#include <iterator>

namespace autopack::job {

namespace {

/// Returns `KEY=VALUE` for each key.
std::vector<std::string> as_pairs(const KeyValues& keys) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : keys) {
    pairs.push_back(key + "=" + to_text(value));
  }
  return pairs;
}

/// Returns true if `part`, split off at `,`, cannot begin a requirement: `<2`, `aws]`.
bool continues_requirement(std::string_view before, std::string_view part) {
  const auto opened = std::ranges::count(before, '[');
  const auto closed = std::ranges::count(before, ']');
  const auto begin = part.find_first_not_of(' ');
  return opened > closed || (begin != std::string_view::npos &&
                             std::string_view{"<>=!~"}.find(part[begin]) != std::string_view::npos);
}

/// Joins `parts` of a list of requirements that were split within one requirement:
/// `pandas[performance,aws]`, `numpy>=1.20,<2`.
std::vector<std::string> join_requirements(std::vector<std::string> parts) {
  std::vector<std::string> requirements;
  for (auto& part : parts) {
    if (!requirements.empty() && continues_requirement(requirements.back(), part)) {
      requirements.back() += "," + part;
    } else {
      requirements.push_back(std::move(part));
    }
  }
  return requirements;
}

}  // namespace

std::string to_text(const KeyValue& value) {
  const auto* const list = std::get_if<std::vector<std::string>>(&value);
  return list == nullptr ? std::get<std::string>(value) : join(*list, ";");
}

std::vector<std::string> to_list(const KeyValue& value) {
  const auto* const list = std::get_if<std::vector<std::string>>(&value);
  return list == nullptr ? split(std::get<std::string>(value), ';') : *list;
}

std::string FlagValue::text() const {
  if (const auto* keys = object()) {
    return join(as_pairs(*keys), ",");
  }
  if (const auto* element = std::get_if<Element>(&value_)) {
    return element->text;
  }
  const auto* const document = std::get_if<Document>(&value_);
  return document == nullptr ? std::get<std::string>(value_) : document->text;
}

std::vector<std::string> FlagValue::elements(const std::string& flag, Problems& problems) const {
  if (const auto* keys = object()) {
    return as_pairs(*keys);
  }
  const auto* const typed = std::get_if<std::string>(&value_);
  if (typed == nullptr) {
    return {text()};
  }
  auto parts = split_list(*typed, flag, problems);
  return flag == "--requirements" ? join_requirements(std::move(parts)) : parts;
}

KeyValues FlagValue::keys(const std::string& flag, Problems& problems) const {
  if (const auto* keys = object()) {
    return *keys;
  }
  KeyValues keys;
  for (auto& [key, value] : pairs_of(elements(flag, problems), flag, problems)) {
    keys.emplace_back(std::move(key), std::move(value));
  }
  return keys;
}

bool FlagValue::says_same(const FlagValue& other) const {
  Problems problems;
  return elements("", problems) == other.elements("", problems);
}

std::vector<std::string> all_elements(const FlagValues& values,
                                      const std::string& flag,
                                      Problems& problems) {
  std::vector<std::string> all;
  for (const auto& value : values) {
    auto more = value.elements(flag, problems);
    std::ranges::move(more, std::back_inserter(all));
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> all_pairs(const FlagValues& values,
                                                           const std::string& flag,
                                                           Problems& problems) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& value : values) {
    for (const auto& [key, inner] : value.keys(flag, problems)) {
      all.emplace_back(key, to_text(inner));
    }
  }
  return all;
}

}  // namespace autopack::job
