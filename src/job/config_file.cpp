#include "job/config_reader.hpp"
#include "job/config_scalar.hpp"
#include "job/job.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace autopack::job {

namespace {

using nlohmann::json;

constexpr std::size_t largest_text = 1U << 20U;

std::size_t known_keys(const YAML::Node& node, std::string_view message) {
  std::size_t count = 0;
  for (const auto& pair : node) {
    const auto name = camel_case(pair.first.as<std::string>(""));
    count += tables::find_field(tables::message(message), name) != nullptr ? 1U : 0U;
  }
  return count;
}

/// The name of another resource that a file is; empty when it may be a custom job.
std::string_view other_resource(const YAML::Node& node) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> marks{{
      {"trialJobSpec", "HyperparameterTuningJob"},
      {"studySpec", "HyperparameterTuningJob"},
      {"trainingTaskInputs", "TrainingPipeline"},
      {"trainingTaskDefinition", "TrainingPipeline"},
      {"trainingInput", "job of the legacy AI Platform"},
  }};
  for (const auto& pair : node) {
    const auto name = camel_case(pair.first.as<std::string>(""));
    for (const auto& [key, resource] : marks) {
      if (name == key) {
        return resource;
      }
    }
  }
  return {};
}

json read_document(const YAML::Node& node, ConfigReader& reader, const std::string& origin) {
  if (node.IsNull() || !node.IsDefined()) {
    reader.fault(node, fmt::format("`{}` is empty", origin));
    return json::object();
  }
  if (!node.IsMap()) {
    reader.fault(node, fmt::format("`{}` is {}, not a mapping", origin, describe_node(node)));
    return json::object();
  }
  if (const auto resource = other_resource(node); !resource.empty()) {
    reader.fault(node, fmt::format("`{}` is a {}; a CustomJob or a CustomJobSpec is wanted", origin,
                                   resource));
    return json::object();
  }
  if (known_keys(node, "CustomJob") > known_keys(node, "CustomJobSpec")) {
    return reader.read_message(node, tables::message("CustomJob"), "");
  }
  reader.hide_prefix("jobSpec");
  return {{"jobSpec", reader.read_message(node, tables::message("CustomJobSpec"), "jobSpec")}};
}

std::vector<YAML::Node> load(std::string_view text, const std::string& origin) {
  if (text.size() > largest_text) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is larger than 1 MiB", origin));
  }
  try {
    return YAML::LoadAll(std::string{text});
  } catch (const YAML::Exception& error) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not YAML: {} (line {}, column {})", origin, error.msg,
                            error.mark.line + 1, error.mark.column + 1));
  }
}

}  // namespace

Config parse_config(std::string_view text, const std::string& name, Problems& problems) {
  const std::string origin = name == "-" ? "standard input" : name;
  Config config{.origin = origin};
  auto body = json::object();
  try {
    const auto documents = load(text, origin);
    ConfigReader reader{config, problems};
    if (documents.size() > 1) {
      reader.fault(documents[1], fmt::format("`{}` holds more than one document", origin));
    } else {
      body = read_document(documents.empty() ? YAML::Node{YAML::NodeType::Null} : documents[0],
                           reader, origin);
    }
  } catch (const Error& error) {
    problems.push_back({.message = error.message(), .origin = fmt::format("`{}`", origin)});
  } catch (const YAML::Exception&) {
    problems.push_back({.message = fmt::format("`{}` cannot be read as a job", origin),
                        .origin = fmt::format("`{}`", origin)});
  }
  config.body = std::make_shared<const json>(std::move(body));
  return config;
}

}  // namespace autopack::job
