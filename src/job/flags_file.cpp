#include "job/flags_file.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "job/flag_values.hpp"
#include "job/yaml.hpp"

#include <fmt/format.h>

namespace autopack::job {

namespace {

/// The only flag whose elements are themselves `KEY=VALUE,...`.
constexpr std::string_view pool_flag = "--worker-pool-spec";

[[noreturn]] void refuse(const YAML::Node& node, const std::string& file, const std::string& what) {
  throw Error(ErrorKind::usage, fmt::format("`--flags-file` `{}` line {}: {}", printable(file),
                                            node.Mark().line + 1, what));
}

std::string pair_value(const YAML::Node& value, const std::string& file) {
  if (value.IsNull()) {
    return {};
  }
  if (value.IsScalar()) {
    return value.Scalar();
  }
  if (!value.IsSequence()) {
    refuse(value, file, "a key's value is text or a list");
  }
  std::vector<std::string> elements;
  for (const auto& element : value) {
    if (!element.IsScalar()) {
      refuse(element, file, "an element of a key's list is text");
    }
    elements.push_back(element.Scalar());
  }
  return join(elements, ";");
}

std::string pairs(const YAML::Node& object, const std::string& file) {
  std::vector<std::string> elements;
  for (const auto& pair : object) {
    elements.push_back(pair.first.Scalar() + "=" + pair_value(pair.second, file));
  }
  return join_list(elements);
}

void add_flag(std::vector<std::string>& flags,
              const std::string& flag,
              const YAML::Node& value,
              const std::string& file) {
  if (value.IsNull()) {
    flags.push_back(flag);
  } else if (value.IsMap()) {
    flags.push_back(flag + "=" + pairs(value, file));
  } else if (value.IsSequence()) {
    for (const auto& element : value) {
      if (element.IsMap()) {
        flags.push_back(flag + "=" + pairs(element, file));
      } else if (!element.IsScalar()) {
        refuse(element, file, fmt::format("an element of `{}` is text or an object", flag));
      } else {
        flags.push_back(flag + "=" +
                        (flag == pool_flag ? element.Scalar() : join_list({element.Scalar()})));
      }
    }
  } else if (value.Tag() != "!" && (value.Scalar() == "true" || value.Scalar() == "false")) {
    flags.push_back(value.Scalar() == "true" ? flag : "--no-" + flag.substr(2));
  } else {
    flags.push_back(flag + "=" + value.Scalar());
  }
}

void add_object(std::vector<std::string>& flags,
                const YAML::Node& object,
                const std::string& file) {
  if (!object.IsMap()) {
    refuse(object, file, "expected `--flag: value`");
  }
  for (const auto& pair : object) {
    const std::string flag = pair.first.IsScalar() ? pair.first.Scalar() : std::string{};
    if (!flag.starts_with("--") || flag.size() < 3) {
      refuse(pair.first, file,
             fmt::format("`{}` is not a flag: expected `--flag: value`", printable(flag)));
    }
    add_flag(flags, flag, pair.second, file);
  }
}

}  // namespace

std::vector<std::string> parse_flags_file(std::string_view text, const std::string& file) {
  YAML::Node root;
  try {
    root = load_yaml(std::string{text});
  } catch (const YAML::Exception& error) {
    throw Error(ErrorKind::usage, fmt::format("`--flags-file` `{}` line {} is not YAML: {}",
                                              printable(file), error.mark.line + 1, error.msg));
  }
  if (const auto repeated = repeated_key(root)) {
    throw Error(ErrorKind::usage,
                fmt::format("`--flags-file` `{}` line {}: `{}` is given twice, first on line {}",
                            printable(file), repeated->second_line, printable(repeated->key),
                            repeated->first_line));
  }
  std::vector<std::string> flags;
  if (root.IsSequence()) {
    for (const auto& object : root) {
      add_object(flags, object, file);
    }
  } else if (root.IsDefined() && !root.IsNull()) {
    add_object(flags, root, file);
  }
  return flags;
}

}  // namespace autopack::job
