#include "job/config_document.hpp"
#include "job/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <sstream>

namespace autopack::job {

namespace {

constexpr std::size_t largest_text = 1U << 20U;

/// Skips a document, and records where it began.
class Skipped final : public YAML::EventHandler {
public:
  using Style = YAML::EmitterStyle::value;

  void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}

  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}

  void OnScalar(const YAML::Mark& /*mark*/,
                const std::string& /*tag*/,
                YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}

  void OnSequenceStart(const YAML::Mark& /*mark*/,
                       const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/,
                       Style /*style*/) override {}

  void OnSequenceEnd() override {}

  void OnMapStart(const YAML::Mark& /*mark*/,
                  const std::string& /*tag*/,
                  YAML::anchor_t /*anchor*/,
                  Style /*style*/) override {}

  void OnMapEnd() override {}

  int line{0};
};

}  // namespace

YAML::Node load_document(const std::string& text, const std::string& name) {
  if (text.size() > largest_text) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is larger than 1 MiB", name));
  }
  try {
    // YAML::LoadAll never ends on some malformed texts, so we look for a second document ourselves
    std::istringstream stream{text};
    YAML::Parser parser{stream};
    Skipped document;
    if (parser.HandleNextDocument(document) && parser.HandleNextDocument(document)) {
      throw Error(ErrorKind::usage,
                  fmt::format("`{}` contains more than one document: line {} begins "
                              "another",
                              name, document.line));
    }
    return load_yaml(text);
  } catch (const YAML::Exception& error) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not YAML: {} (line {}, column {})", name, error.msg,
                            error.mark.line + 1, error.mark.column + 1));
  }
}

Config parse_config(std::string_view text,
                    const std::string& name,
                    Problems& problems,
                    const std::optional<std::string>& printed_by) {
  const bool is_input = name == "-";
  Config config{.name = is_input ? "standard input" : name,
                .printed_by = is_input ? std::optional<std::string>{"..."} : printed_by};
  const auto origin = to_string(Origin::file(config.name));
  try {
    read_document(load_document(std::string{text}, config.name), config, problems);
  } catch (const Error& error) {
    problems.push_back({.message = error.message(), .origin = origin});
  } catch (const YAML::Exception&) {
    problems.push_back(
        {.message = fmt::format("`{}` cannot be read as a job", config.name), .origin = origin});
  }
  return config;
}

}  // namespace autopack::job
