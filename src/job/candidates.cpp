#include "job/candidates.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace autopack::job {

namespace {

constexpr std::string_view regions_label{"autopack-regions"};
constexpr std::string_view accelerators_label{"autopack-accelerators"};
constexpr std::size_t longest_value{63};

/// A separator must not be part of a name, and labels have few characters.
constexpr char between_regions{'_'};
constexpr char between_accelerators{'-'};

std::string numbered(std::string_view label, std::size_t number) {
  return number == 1 ? std::string{label} : fmt::format("{}-{}", label, number);
}

void add_labels(const std::vector<std::string>& names,
                std::string_view label,
                char separator,
                std::map<std::string, std::string>& labels) {
  std::size_t number = 1;
  for (const auto& name : names) {
    const auto text = to_lower(name);
    if (!is_alphanumeric(text, "-_") || text.size() > longest_value) {
      continue;  // no such name exists, and the service would refuse the label
    }
    auto* value = &labels[numbered(label, number)];
    if (!value->empty() && value->size() + 1 + text.size() > longest_value) {
      value = &labels[numbered(label, ++number)];
    }
    *value += (value->empty() ? "" : std::string{separator}) + text;
  }
}

std::vector<std::string> names_in(const std::map<std::string, std::string>& labels,
                                  std::string_view label,
                                  char separator) {
  std::vector<std::string> names;
  for (std::size_t number = 1; number <= most_candidates; ++number) {
    const auto found = labels.find(numbered(label, number));
    if (found == labels.end()) {
      break;
    }
    for (auto& name : split(found->second, separator)) {
      if (!name.empty() && !contains(names, name)) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

}  // namespace

std::string to_string(const Candidate& candidate) {
  return candidate.accelerator ? fmt::format("{} with {}", candidate.region, *candidate.accelerator)
                               : candidate.region;
}

std::vector<Candidate> CandidateLists::in_order() const {
  const auto count = regions.size() * std::max<std::size_t>(accelerators.size(), 1);
  if (count > most_candidates) {
    throw Error(ErrorKind::usage,
                fmt::format("{} regions with {} accelerators are {} places to try, and {} are the "
                            "limit",
                            regions.size(), accelerators.size(), count, most_candidates))
        .hint("shorten `--region` or `--accelerator-type`");
  }
  std::vector<Candidate> all;
  const bool names_accelerator = accelerators.size() > 1;
  for (std::size_t i = 0; i == 0 || i < accelerators.size(); ++i) {
    for (const auto& region : regions) {
      all.push_back(
          {.region = region,
           .accelerator = names_accelerator ? std::optional{accelerators[i]} : std::nullopt});
    }
  }
  return all;
}

std::vector<std::string> candidate_names(const std::vector<std::string>& values) {
  std::vector<std::string> names;
  for (const auto& value : values) {
    for (const auto& part : split(value, ',')) {
      const std::string name{trim(part)};
      if (!name.empty() && !contains(names, name)) {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::map<std::string, std::string> candidate_labels(const CandidateLists& lists) {
  std::map<std::string, std::string> labels;
  add_labels(lists.regions, regions_label, between_regions, labels);
  add_labels(lists.accelerators, accelerators_label, between_accelerators, labels);
  return labels;
}

CandidateLists read_candidate_labels(const std::map<std::string, std::string>& labels) {
  CandidateLists lists{.regions = names_in(labels, regions_label, between_regions),
                       .accelerators = names_in(labels, accelerators_label, between_accelerators)};
  for (auto& name : lists.accelerators) {
    name = to_upper(name);
  }
  return lists;
}

bool supports(const std::string& machine, const std::string& accelerator, std::int64_t count) {
  const auto* const row = tables::find_machine(machine);
  return row != nullptr && (tables::offers(row->fixed, accelerator, count) ||
                            tables::offers(row->attachable, accelerator, count));
}

}  // namespace autopack::job
