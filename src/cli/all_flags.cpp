#include "cli/all_flags.hpp"

#include "base/contains.hpp"
#include "cli/command.hpp"

#include <algorithm>
#include <array>

namespace autopack::cli {

std::vector<FlagHelp> flags_of_command(std::string_view name) {
  for (const auto& entry : commands()) {
    if (entry.name == name) {
      GlobalOptions global;
      FlagSet flags{std::string{name}};
      const auto command = entry.make();
      command->add_flags(flags);
      add_global_flags(flags, global);
      return flags.help();
    }
  }
  return {};
}

std::optional<std::string> command_with(std::string_view flag) {
  for (const auto& entry : commands()) {
    const auto flags = flags_of_command(entry.name);
    const bool has_it =
        std::ranges::any_of(flags, [&](const FlagHelp& one) { return one.long_name == flag; });
    if (has_it) {
      return std::string{entry.name};
    }
  }
  return std::nullopt;
}

std::vector<FlagHelp> flags_of_program() {
  GlobalOptions global;
  FlagSet flags{""};
  add_global_flags(flags, global);
  return flags.help();
}

std::vector<FlagHelp> flags_of_all_commands() {
  std::vector<FlagHelp> all;
  for (const auto& entry : commands()) {
    for (auto& flag : flags_of_command(entry.name)) {
      const bool is_new = std::ranges::none_of(
          all, [&](const FlagHelp& other) { return other.long_name == flag.long_name; });
      if (is_new) {
        all.push_back(std::move(flag));
      }
    }
  }
  return all;
}

bool may_stand_in_file(std::string_view flag) {
  static constexpr std::array typed_only{
      std::string_view{"--help"},         std::string_view{"--help-all"},
      std::string_view{"--version"},      std::string_view{"--man"},
      std::string_view{"--schema"},       std::string_view{"--directory"},
      std::string_view{"--flags-file"},   std::string_view{"--save"},
      std::string_view{"--check"},        std::string_view{"--force"},
      std::string_view{"--all"},          std::string_view{"--old"},
      std::string_view{"--engine-host"},  // sources and logins would go where a project says
      std::string_view{"--html"},         std::string_view{"--list"},
      std::string_view{"--remove"},       std::string_view{"--upgrade"},
      std::string_view{"--from"},         std::string_view{"--to"},
      std::string_view{"--onto"},         std::string_view{"--tag"},
      std::string_view{"--current-base"}, std::string_view{"--offline"}};
  return !contains(typed_only, flag);
}

bool may_be_list(std::string_view flag) {
  return flag == "--region" || flag == "--accelerator-type";
}

bool is_for_one_call(std::string_view flag) {
  static constexpr std::array names{
      std::string_view{"--dry-run"}, std::string_view{"--detach"},
      std::string_view{"--wait"},    std::string_view{"--stream-logs"},
      std::string_view{"--resume"},  std::string_view{"--skip-checks"},
      std::string_view{"--no-cache"}};
  return !may_stand_in_file(flag) || contains(names, flag);
}

}  // namespace autopack::cli
