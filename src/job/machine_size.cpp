#include "job/machine_size.hpp"

#include "job/tables.hpp"

#include <array>
#include <charconv>
#include <string>

namespace autopack::job {

namespace {

/// Machines whose memory is in proportion to their CPUs, the number at the end of the name.
struct Series {
  std::string_view prefix;
  std::string_view family;
  std::int64_t memory;  ///< for each CPU, in thousandths of a GB
};

struct Single {
  std::string_view type;
  MachineSize size;
};

// Source: Google Cloud documentation, "Machine families resource and comparison guide", 2026.
constexpr std::array series{Series{"n1-standard-", "n1", 3750}, Series{"n1-highmem-", "n1", 6500},
                            Series{"n1-highcpu-", "n1", 900},   Series{"n2-standard-", "n2", 4000},
                            Series{"n2-highmem-", "n2", 8000},  Series{"n2-highcpu-", "n2", 1000},
                            Series{"n4-standard-", "n4", 4000}, Series{"n4-highmem-", "n4", 8000},
                            Series{"n4-highcpu-", "n4", 2000},  Series{"e2-standard-", "e2", 4000},
                            Series{"e2-highmem-", "e2", 8000},  Series{"e2-highcpu-", "e2", 1000},
                            Series{"c2-standard-", "c2", 4000}, Series{"g2-standard-", "g2", 4000},
                            Series{"g4-standard-", "g4", 3750}};

constexpr std::array singles{Single{"a2-highgpu-1g", {"a2", 12, 85'000}},
                             Single{"a2-highgpu-2g", {"a2", 24, 170'000}},
                             Single{"a2-highgpu-4g", {"a2", 48, 340'000}},
                             Single{"a2-highgpu-8g", {"a2", 96, 680'000}},
                             Single{"a2-megagpu-16g", {"a2", 96, 1'360'000}},
                             Single{"a2-ultragpu-1g", {"a2", 12, 170'000}},
                             Single{"a2-ultragpu-2g", {"a2", 24, 340'000}},
                             Single{"a2-ultragpu-4g", {"a2", 48, 680'000}},
                             Single{"a2-ultragpu-8g", {"a2", 96, 1'360'000}},
                             Single{"a3-highgpu-1g", {"a3", 26, 234'000}},
                             Single{"a3-highgpu-2g", {"a3", 52, 468'000}},
                             Single{"a3-highgpu-4g", {"a3", 104, 936'000}},
                             Single{"a3-highgpu-8g", {"a3", 208, 1'872'000}},
                             Single{"a3-megagpu-8g", {"a3plus", 208, 1'872'000}},
                             Single{"a3-ultragpu-8g", {"a3ultra", 224, 2'952'000}},
                             Single{"a4-highgpu-8g", {"a4", 224, 3'968'000}},
                             Single{"m1-megamem-96", {"m1", 96, 1'433'600}},
                             Single{"m1-ultramem-40", {"m1", 40, 961'000}},
                             Single{"m1-ultramem-80", {"m1", 80, 1'922'000}},
                             Single{"m1-ultramem-160", {"m1", 160, 3'844'000}}};

}  // namespace

std::optional<MachineSize> find_machine_size(std::string_view type) {
  // A type that the table does not have may be out of proportion.
  if (tables::find_machine(type) == nullptr) {
    return std::nullopt;
  }
  for (const auto& single : singles) {
    if (single.type == type) {
      return single.size;
    }
  }
  for (const auto& one : series) {
    if (!type.starts_with(one.prefix)) {
      continue;
    }
    const auto digits = type.substr(one.prefix.size());
    std::int64_t cpus = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), cpus);
    if (failure == std::errc{} && end == digits.data() + digits.size()) {
      return MachineSize{.family = one.family, .cpus = cpus, .memory = cpus * one.memory};
    }
  }
  return std::nullopt;
}

}  // namespace autopack::job
