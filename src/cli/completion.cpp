#include "cli/completion.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "cli/command.hpp"
#include "job/pool_flags.hpp"
#include "job/tables.hpp"
#include "packaging/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

namespace {

constexpr std::string_view files{":files"};
constexpr std::string_view directories{":directories"};

using Words = std::vector<std::string>;

void add(Words& all, std::span<const std::string_view> values) {
  for (const auto value : values) {
    all.emplace_back(value);
  }
}

Words machine_type_names() {
  Words names;
  for (const auto& machine : job::tables::machines()) {
    names.emplace_back(machine.name);
  }
  return names;
}

Words executor_images() {
  Words names;
  for (const auto& image : job::tables::prebuilt_images()) {
    names.push_back("us-docker.pkg.dev/vertex-ai/training/" + std::string{image.name} + ":latest");
  }
  return names;
}

Words values_of(packaging::Setting::Completion completion) {
  using Completion = packaging::Setting::Completion;
  switch (completion) {
    case Completion::files: return {std::string{files}};
    case Completion::directories: return {std::string{directories}};
    case Completion::executor_images: return executor_images();
    case Completion::launchers: return {"torchrun", "accelerate", "deepspeed", "mpirun"};
    case Completion::none: break;
  }
  return {};
}

/// Returns the values of a flag or of a pool's key; `label` is the flag's.
Words values_of(std::string_view name, std::string_view label) {
  const auto setting = std::ranges::find(packaging::settings, name, &packaging::Setting::key);
  if (setting != packaging::settings.end()) {
    return values_of(setting->completion);
  }
  Words values;
  if (name == "region" || name == "kms-location") {
    add(values, job::tables::regions());
  } else if (name == "machine-type") {
    values = machine_type_names();
  } else if (name == "accelerator-type") {
    add(values, job::tables::accelerator_types());
    std::erase_if(values, [](const auto& value) { return value.ends_with("_UNSPECIFIED"); });
  } else if (label.find("FILE") != std::string_view::npos) {
    values.emplace_back(files);
  } else if (label.find("DIR") != std::string_view::npos) {
    values.emplace_back(directories);
  }
  return values;
}

/// Completes the text after the last `,` of a pool; each result includes the text before.
Words complete_pool(const std::string& typed) {
  const auto comma = typed.rfind(',');
  const std::string before = comma == std::string::npos ? "" : typed.substr(0, comma + 1);
  const std::string part = typed.substr(before.size());
  const auto equals = part.find('=');
  Words result;
  if (equals == std::string::npos) {
    for (const auto key : job::pool_keys()) {
      const std::string name = std::string{key} + "=";
      if (("," + before).find("," + name) == std::string::npos) {
        result.push_back(before + name);
      }
    }
    return result;
  }
  for (const auto& value : values_of(part.substr(0, equals), "")) {
    result.push_back(value.starts_with(':')
                         ? value
                         : fmt::format("{}{}{}", before, part.substr(0, equals + 1), value));
  }
  return result;
}

Words complete_value(const FlagHelp& flag, const std::string& typed) {
  if (flag.long_name == "--worker-pool-spec") {
    return complete_pool(typed);
  }
  return flag.values.empty() ? values_of(flag.long_name.substr(2), flag.label.value_or(""))
                             : flag.values;
}

const FlagHelp* find_flag(const std::vector<FlagHelp>& flags, const std::string& name) {
  const auto found = std::ranges::find_if(
      flags, [&](const FlagHelp& flag) { return contains(flag.spelled, name); });
  return found == flags.end() ? nullptr : &*found;
}

Words flag_names(const std::vector<FlagHelp>& flags) {
  Words names;
  for (const auto& flag : flags) {
    const std::string end = flag.label ? "=" : "";
    names.push_back(flag.long_name + end + "\t" + flag.text);
    if (flag.kind == FlagKind::choice) {
      names.push_back("--no-" + flag.long_name.substr(2) + "\t" + flag.text);
    }
  }
  return names;
}

/// The command among `words`, and the number of positional arguments after it.
struct CompletionPoint {
  const CommandEntry* command{nullptr};
  std::size_t arguments{0};
  const FlagHelp* waiting{nullptr};  ///< the last word is the value of this flag
  bool behind_dashes{false};
};

CompletionPoint place_of(const Words& words,
                         const std::vector<FlagHelp>& flags,
                         const CommandEntry* command) {
  CompletionPoint place{.command = command};
  bool command_seen = false;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool was_waiting = place.waiting != nullptr;
    place.waiting = nullptr;
    if (was_waiting) {
      continue;
    }
    if (words[i] == "--") {
      place.behind_dashes = true;
      return place;
    }
    if (words[i].starts_with('-')) {
      const auto* flag = find_flag(flags, words[i]);
      place.waiting = flag != nullptr && flag->label ? flag : nullptr;
    } else if (command != nullptr && !command_seen) {
      command_seen = true;
    } else {
      ++place.arguments;
    }
  }
  return place;
}

const CommandEntry* command_in(const Words& words) {
  const auto global = flags_of_program();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!words[i].starts_with('-')) {
      const auto all = commands();
      const auto found =
          std::ranges::find_if(all, [&](const auto& entry) { return entry.name == words[i]; });
      return found == all.end() ? nullptr : &*found;
    }
    const auto* flag = find_flag(global, words[i]);
    i += flag != nullptr && flag->label ? 1U : 0U;
  }
  return nullptr;
}

Words candidates(const CompletionPoint& place,
                 const std::vector<FlagHelp>& flags,
                 const std::string& last,
                 const std::function<Words()>& jobs) {
  if (place.behind_dashes) {
    return {std::string{files}};
  }
  if (place.waiting != nullptr) {
    return complete_value(*place.waiting, last);
  }
  if (const auto equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const auto* flag = find_flag(flags, last.substr(0, equals));
    Words values;
    if (flag != nullptr) {
      for (const auto& value : complete_value(*flag, last.substr(equals + 1))) {
        values.push_back(value.starts_with(':') ? value : last.substr(0, equals + 1) + value);
      }
    }
    return values;
  }
  if (last.starts_with('-')) {
    return flag_names(flags);
  }
  Words words;
  if (place.command == nullptr) {
    for (const auto& entry : commands()) {
      words.push_back(std::string{entry.name} + "\t" + std::string{entry.summary});
    }
  } else if (place.arguments == 0 && place.command->first_argument) {
    words = split(*place.command->first_argument, '|');
  } else if (place.command->name == "jobs") {
    words = jobs && place.arguments == 1 ? jobs() : Words{};
  } else if (place.arguments < place.command->most_arguments) {
    words.emplace_back(files);
  }
  return words;
}

}  // namespace

std::vector<std::string> complete(const std::vector<std::string>& words,
                                  const std::function<std::vector<std::string>()>& jobs) {
  if (words.empty()) {
    return {};
  }
  const auto* command = command_in(words);
  const auto flags = command == nullptr ? flags_of_program() : flags_of_command(command->name);
  const std::string& last = words.back();
  Words fitting;
  for (auto& candidate : candidates(place_of(words, flags, command), flags, last, jobs)) {
    if (candidate.starts_with(':') || candidate.starts_with(last)) {
      fitting.push_back(std::move(candidate));
    }
  }
  return fitting;
}

}  // namespace autopack::cli
