#include "base/contains.hpp"
#include "base/text.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

using tables::Accelerators;

namespace {

constexpr int smallest_disk = 100;   // GB
constexpr int largest_disk = 64000;  // GB
constexpr std::array disk_types{std::string_view{"pd-ssd"}, std::string_view{"pd-standard"},
                                std::string_view{"hyperdisk-balanced"}};

std::string numbers(std::span<const int> counts) {
  return fmt::format("{}", fmt::join(counts, ", "));
}

/// Lists accelerators for a message.
std::string quote_types(std::span<const Accelerators> accelerators) {
  std::vector<std::string> names;
  for (const auto& entry : accelerators) {
    names.push_back("`" + std::string{entry.type} + "`");
  }
  return join(names, ", ");
}

/// People write only the chip: `T4` means `NVIDIA_TESLA_T4`.
std::string did_you_mean_accelerator(const std::string& name) {
  const auto types = tables::accelerator_types();
  const auto chip = "_" + to_lower(name);
  const auto found = std::ranges::find_if(types, [&](std::string_view type) {
    const auto known = to_lower(type) + "_";
    return known.find(chip + "_") != std::string::npos;
  });
  return found == types.end() ? tables::did_you_mean(name, types)
                              : fmt::format(" (did you mean `{}`?)", *found);
}

class MachineCheck {
public:
  MachineCheck(const Pool& pool, std::string path, Review& review)
      : machine_{pool.machine.value_or(Machine{})},
        disk_{pool.disk.value_or(Disk{})},
        path_{std::move(path)},
        review_{review},
        machine_type_{machine_.type.value_or("")},
        accelerator_{machine_.accelerator.value_or("")},
        count_{machine_.accelerators} {
    if (accelerator_ == "ACCELERATOR_TYPE_UNSPECIFIED") {
      accelerator_.clear();
    }
  }

  void run();

private:
  void pair();
  void table();
  void check_fixed(const tables::Machine& machine);
  void check_attached(const tables::Machine& machine);
  void topology(const tables::Machine& machine);
  void disk();

  std::string at(const char* key) const { return path_ + ".machineSpec." + key; }

  Machine machine_;
  Disk disk_;
  std::string path_;
  Review& review_;
  std::string machine_type_;
  std::string accelerator_;
  Number count_;
};

/// acceleratorType and acceleratorCount need each other.
void MachineCheck::pair() {
  const auto type_name = review_.name(at("acceleratorType"), "accelerator-type");
  const auto count_name = review_.name(at("acceleratorCount"), "accelerator-count");
  if (accelerator_.empty() && count_.value_or(0) != 0 &&
      !review_.was_given(at("acceleratorType"))) {
    review_.error(at("acceleratorCount"),
                  fmt::format("{} is given without {}", count_name, type_name));
  }
  if (!accelerator_.empty() && count_ && *count_ < 1) {
    review_.error(at("acceleratorCount"),
                  fmt::format("{} is {}; with a type there is at least one", count_name, *count_));
  }
  if (!accelerator_.empty() && !count_ && !review_.was_given(at("acceleratorCount"))) {
    review_.error(at("acceleratorType"),
                  fmt::format("{} is given without {}", type_name, count_name));
  }
}

void MachineCheck::check_fixed(const tables::Machine& machine) {
  const auto& own = machine.fixed[0];
  if (accelerator_.empty()) {
    review_.warning(at("machineType"),
                    fmt::format("machine type `{}` has {} `{}`, which the job does not name",
                                machine_type_, own.counts[0], own.type));
  } else if (accelerator_ != own.type || count_ != own.counts[0]) {
    review_.error(at("acceleratorType"),
                  fmt::format("machine type `{}` has {} `{}`, not {} `{}`", machine_type_,
                              own.counts[0], own.type, count_.value_or(0), accelerator_));
  }
}

void MachineCheck::check_attached(const tables::Machine& machine) {
  if (accelerator_.empty()) {
    return;
  }
  const auto& offer = machine.attachable;
  const auto own =
      std::ranges::find_if(offer, [&](const Accelerators& a) { return a.type == accelerator_; });
  if (own == offer.end()) {
    review_.error(
        at("acceleratorType"),
        offer.empty()
            ? fmt::format("machine type `{}` does not support accelerators", machine_type_)
            : fmt::format("machine type `{}` does not support `{}`; it supports {}", machine_type_,
                          accelerator_, quote_types(offer)));
    return;
  }
  // pods: the multiples depend on the region
  const bool pod = machine.tpu && count_.value_or(0) >= 32;
  if (!pod && count_ && *count_ > 0 && !contains(own->counts, *count_)) {
    review_.error(at("acceleratorCount"),
                  fmt::format("machine type `{}` does not support {} `{}`; it supports {}",
                              machine_type_, *count_, accelerator_, numbers(own->counts)));
  }
}

void MachineCheck::topology(const tables::Machine& machine) {
  const auto topology = machine_.tpu_topology.value_or("");
  if (topology.empty()) {
    if (machine.needs_topology && !review_.was_given(at("tpuTopology"))) {
      review_.error(at("machineType"),
                    fmt::format("machine type `{}` needs a TPU topology{}", machine_type_,
                                machine.topologies.empty()
                                    ? ""
                                    : fmt::format(": {}", fmt::join(machine.topologies, ", "))),
                    {"--tpu-topology=TOPOLOGY, or `tpuTopology` in a file"});
    }
    return;
  }
  const auto& known = machine.topologies;
  if (!machine.tpu) {
    review_.error(at("tpuTopology"),
                  fmt::format("machine type `{}` has no TPU topology", machine_type_));
  } else if (!known.empty() && !contains(known, topology)) {
    review_.error(at("tpuTopology"),
                  fmt::format("machine type `{}` has no topology `{}`; it has {}", machine_type_,
                              printable(topology), fmt::join(known, ", ")));
  }
}

void MachineCheck::table() {
  const auto types = tables::accelerator_types();
  if (!accelerator_.empty() && !contains(types, accelerator_)) {
    review_.error(at("acceleratorType"),
                  fmt::format("unknown accelerator type `{}`{}", printable(accelerator_),
                              did_you_mean_accelerator(accelerator_)));
    return;
  }
  const auto* const machine = tables::find_machine(machine_type_);
  if (machine == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& known : tables::machines()) {
      names.push_back(known.name);
    }
    review_.warning(at("machineType"),
                    fmt::format("unknown machine type `{}`{}", printable(machine_type_),
                                tables::did_you_mean(machine_type_, names)));
    return;
  }
  machine->fixed.empty() ? check_attached(*machine) : check_fixed(*machine);
  topology(*machine);
  const auto disk_type = disk_.type.value_or("");
  if (machine->boot_disk && !disk_type.empty() && disk_type != machine->boot_disk) {
    review_.error(path_ + ".diskSpec.bootDiskType",
                  fmt::format("machine type `{}` boots from `{}`, not from `{}`", machine_type_,
                              *machine->boot_disk, printable(disk_type)));
  }
}

void MachineCheck::disk() {
  const auto type = disk_.type.value_or("");
  if (!type.empty() && !review_.options().skip_tables && !contains(disk_types, type)) {
    review_.error(path_ + ".diskSpec.bootDiskType",
                  fmt::format("unknown boot disk type `{}`{}", printable(type),
                              tables::did_you_mean(type, disk_types)));
  }
  if (disk_.size) {
    const auto size = *disk_.size;
    if (size < smallest_disk || size > largest_disk) {
      review_.error(path_ + ".diskSpec.bootDiskSizeGb",
                    fmt::format("{} is {}; a boot disk has {} to {} GB",
                                shown_path(path_ + ".diskSpec.bootDiskSizeGb"), size, smallest_disk,
                                largest_disk));
    }
  }
}

void MachineCheck::run() {
  pair();
  disk();
  if (machine_type_.empty()) {
    if (!review_.was_given(at("machineType")) && !review_.options().on_cluster) {
      review_.error(
          at("machineType"),
          fmt::format("{} has no {}", shown_path(path_),
                      review_.name(at("machineType"), "machine-type")),
          {review_.has_own_flags(path_) ? "`--machine-type=n1-standard-4` or another names it"
                                        : "add machine-type=n1-standard-4 or another to the pool"});
    }
    return;
  }
  if (!review_.options().skip_tables) {
    table();
  }
}

}  // namespace

void check_machine(const Pool& pool, const std::string& path, Review& review) {
  MachineCheck{pool, path, review}.run();
}

}  // namespace autopack::job
