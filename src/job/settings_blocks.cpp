#include "job/settings_blocks.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::job {

namespace {

using project::ToolSetting;

constexpr std::array keys_of_blocks{
    BlockKey{"kubernetes", "context", "context"},
    BlockKey{"kubernetes", "namespace", "namespace"},
    BlockKey{"kubernetes", "object", "object"},
    BlockKey{"kubernetes", "pod", "pod-template", true},
    BlockKey{"kubernetes", "priority-class", "priority-class"},
    BlockKey{"kubernetes", "queue", "queue"},
    BlockKey{"kubernetes", "runtime", "runtime"},
    BlockKey{"slurm", "account", "slurm-account"},
    BlockKey{"slurm", "container-mounts", "container-mounts"},
    BlockKey{"slurm", "containers", "containers"},
    BlockKey{"slurm", "gres", "gres"},
    BlockKey{"slurm", "login", "login"},
    BlockKey{"slurm", "partition", "partition"},
    BlockKey{"slurm", "qos", "qos"},
    BlockKey{"slurm", "shared-directory", "shared-directory"},
    BlockKey{"slurm", "signal", "signal"},
    BlockKey{"slurm", "time", "time"},
};

[[noreturn]] void refuse_object(const std::string& file, int line, const std::string& what) {
  throw Error(ErrorKind::usage, fmt::format("`{}` line {}: {}", printable(file), line, what));
}

void expand(ToolSetting setting, std::vector<ToolSetting>& into) {
  const auto key = setting.key;
  const auto& value = *setting.value;
  if (key != targets_key && !is_block(key)) {
    into.push_back(std::move(setting));
    return;
  }
  refuse_nested(key, setting.target, setting.file, setting.line);
  if (!value.is_object()) {
    refuse_object(setting.file, setting.line, fmt::format("`{}` is an object", key));
  }
  for (const auto& [name, inner] : value.items()) {
    auto one = setting;
    if (key != targets_key) {
      const auto& row = find_block_key(key, name, setting.file, setting.line);
      one.key = row.flag;
      one.is_document = row.is_document;
      one.value = std::make_shared<nlohmann::json>(
          row.is_document ? nlohmann::json(print_json(inner)) : inner);
      into.push_back(std::move(one));
      continue;
    }
    if (!inner.is_object()) {
      refuse_object(setting.file, setting.line,
                    fmt::format("the target `{}` is an object of settings", printable(name)));
    }
    one.target = name;
    for (const auto& [inner_key, inner_value] : inner.items()) {
      one.key = inner_key;
      one.value = std::make_shared<nlohmann::json>(inner_value);
      expand(one, into);
    }
  }
}

}  // namespace

std::span<const BlockKey> block_keys() {
  return keys_of_blocks;
}

bool is_block(std::string_view key) {
  return std::ranges::any_of(keys_of_blocks, [&](const auto& row) { return row.block == key; });
}

const BlockKey& find_block_key(std::string_view block,
                               std::string_view key,
                               const std::string& file,
                               int line) {
  const auto found = std::ranges::find_if(
      keys_of_blocks, [&](const auto& row) { return row.block == block && row.key == key; });
  if (found != keys_of_blocks.end()) {
    return *found;
  }
  std::vector<std::string> names;
  for (const auto& row : keys_of_blocks) {
    if (row.block == block) {
      names.emplace_back(row.key);
    }
  }
  const auto near = nearest(std::string{key}, names);
  throw Error(ErrorKind::usage, fmt::format("`{}` line {}: `{}` has no key `{}`", printable(file),
                                            line, block, printable(std::string{key})))
      .hint(near ? fmt::format("did you mean `{}`?", *near)
                 : fmt::format("its keys are `{}`", join(names, "`, `")));
}

std::vector<ToolSetting> expand_blocks(std::vector<ToolSetting> settings) {
  std::vector<ToolSetting> all;
  for (auto& setting : settings) {
    expand(std::move(setting), all);
  }
  return all;
}

void refuse_nested(std::string_view key,
                   const std::string& target,
                   const std::string& file,
                   int line) {
  if (key == targets_key && !target.empty()) {
    refuse_object(file, line,
                  fmt::format("the target `{}` has `targets` of its own", printable(target)));
  }
}

}  // namespace autopack::job
