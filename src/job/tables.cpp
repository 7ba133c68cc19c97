#include "job/tables.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace autopack::job::tables {

const Message& message(std::string_view name) {
  for (const auto& candidate : messages()) {
    if (candidate.name == name) {
      return candidate;
    }
  }
  throw Error(ErrorKind::internal, "the schema table has no message `" + std::string{name} + "`");
}

const Field* find_field(const Message& message, std::string_view name) {
  const auto found =
      std::ranges::find_if(message.fields, [&](const Field& field) { return field.name == name; });
  return found == message.fields.end() ? nullptr : &*found;
}

const Machine* find_machine(std::string_view name) {
  const auto table = machines();
  const auto found =
      std::ranges::find_if(table, [&](const Machine& machine) { return machine.name == name; });
  return found == table.end() ? nullptr : &*found;
}

bool offers(std::span<const Accelerators> all, std::string_view type, std::int64_t count) {
  return std::ranges::any_of(all, [&](const Accelerators& one) {
    return one.type == type && contains(one.counts, count);
  });
}

std::span<const std::string_view> accelerator_types() {
  return find_field(message("MachineSpec"), "acceleratorType")->values;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::vector<std::string> names(candidates.begin(), candidates.end());
  const auto near = nearest(name, names);
  return near ? " (did you mean `" + *near + "`?)" : "";
}

}  // namespace autopack::job::tables
