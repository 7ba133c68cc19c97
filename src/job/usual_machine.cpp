#include "job/usual_machine.hpp"

#include "base/contains.hpp"
#include "job/tables.hpp"

#include <algorithm>
#include <utility>

namespace autopack::job {

namespace {

using tables::Accelerators;

constexpr std::string_view without_accelerator{"n1-standard-4"};

/// Supports every attachable accelerator; a smaller machine has too little memory for some of them.
constexpr std::string_view with_accelerator{"n1-standard-8"};

bool gives(std::span<const Accelerators> all, std::string_view type, std::int64_t count) {
  return std::ranges::any_of(all, [&](const Accelerators& one) {
    return one.type == type && contains(one.counts, count);
  });
}

}  // namespace

std::string usual_machine(const PoolFlags& pool) {
  if (!pool.accelerator_type) {
    return std::string{without_accelerator};
  }
  const auto& type = *pool.accelerator_type;
  const auto count = pool.accelerator_count.value_or(1);
  const auto* const usual = tables::find_machine(with_accelerator);
  auto best = with_accelerator;
  if (usual != nullptr && gives(usual->attachable, type, count)) {
    return std::string{best};
  }
  // Names of one family differ only in their number of CPUs.
  const auto is_smaller = [](std::string_view one, std::string_view other) {
    return std::pair{one.size(), one} < std::pair{other.size(), other};
  };
  bool has_found = false;
  for (const auto& machine : tables::machines()) {
    const bool fits = !machine.arm64 && gives(machine.fixed, type, count);
    if (fits && (!has_found || is_smaller(machine.name, best))) {
      best = machine.name;
      has_found = true;
    }
  }
  return std::string{best};
}

}  // namespace autopack::job
