#include "base/json.hpp"
#include "job/config_reader.hpp"
#include "job/config_scalar.hpp"
#include "job/job.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <array>
#include <sstream>

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

/// Passes over a document, and remembers where it began.
class Skipped final : public YAML::EventHandler {
public:
  using Style = YAML::EmitterStyle::value;

  void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}

  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}

  void OnScalar(const YAML::Mark&,
                const std::string&,
                YAML::anchor_t,
                const std::string&) override {}

  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, Style) override {}

  void OnSequenceEnd() override {}

  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, Style) override {}

  void OnMapEnd() override {}

  int line{0};
};

/// The only document of `text`. YAML::LoadAll never ends on some malformed texts, so the second
/// document is looked for by hand.
YAML::Node load(const std::string& text, const std::string& origin) {
  if (text.size() > largest_text) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is larger than 1 MiB", origin));
  }
  try {
    std::istringstream stream{text};
    YAML::Parser parser{stream};
    Skipped document;
    if (parser.HandleNextDocument(document) && parser.HandleNextDocument(document)) {
      throw Error(ErrorKind::usage, fmt::format("`{}` holds more than one document: line {} begins "
                                                "another",
                                                origin, document.line));
    }
    return YAML::Load(text);
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
    const auto document = load(std::string{text}, origin);
    ConfigReader reader{config, problems};
    body = read_document(document, reader, origin);
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
