#include "base/json.hpp"
#include "base/text.hpp"
#include "executor/python_survey.hpp"

namespace autopack::executor {

namespace {

using nlohmann::json;

/// Increment this if facts are found differently: it invalidates the cache.
constexpr int format{3};

json to_json(const python::Interpreter& interpreter) {
  const auto& scheme = interpreter.scheme;
  return {{"executable", interpreter.executable},
          {"version", interpreter.version.str()},
          {"implementation", interpreter.implementation},
          {"abi_flags", interpreter.abi_flags},
          {"machine", interpreter.machine},
          {"libc", interpreter.libc.kind == python::Libc::Kind::musl ? "musl" : "glibc"},
          {"libc_major", interpreter.libc.major},
          {"libc_minor", interpreter.libc.minor},
          {"purelib", scheme.purelib},
          {"platlib", scheme.platlib},
          {"scripts", scheme.scripts},
          {"headers", scheme.headers},
          {"data", scheme.data}};
}

/// Throws json::exception if it is not an interpreter.
python::Interpreter interpreter_of(const json& object) {
  const auto text = [&](const char* key) { return object.at(key).get<std::string>(); };
  const auto version = python::Version::parse(text("version"));
  python::Interpreter interpreter{
      .executable = text("executable"),
      .version = version.value_or(python::Version{}),
      .implementation = text("implementation"),
      .abi_flags = text("abi_flags"),
      .machine = text("machine"),
      .libc = {.kind =
                   text("libc") == "musl" ? python::Libc::Kind::musl : python::Libc::Kind::glibc,
               .major = object.at("libc_major").get<int>(),
               .minor = object.at("libc_minor").get<int>()},
      .scheme = {.purelib = text("purelib"),
                 .platlib = text("platlib"),
                 .scripts = text("scripts"),
                 .headers = text("headers"),
                 .data = text("data")}};
  return interpreter;
}

json to_json(const InstalledDistribution& distribution) {
  return {{"name", distribution.name},
          {"version", distribution.version.value_or("")},
          {"directory", distribution.directory},
          {"installer", distribution.installer.value_or("")},
          {"kept_by", distribution.kept_by.value_or("")}};
}

InstalledDistribution distribution_of(const json& object) {
  const auto text = [&](const char* key) { return object.at(key).get<std::string>(); };
  return {.name = text("name"),
          .version = non_empty(text("version")),
          .directory = text("directory"),
          .installer = non_empty(text("installer")),
          .kept_by = non_empty(text("kept_by"))};
}

}  // namespace

std::string to_json_line(const PythonFacts& facts) {
  json object{{"format", format},
              {"obstacle", facts.obstacle.value_or("")},
              {"remarks", facts.remarks},
              {"search_path", facts.search_path},
              {"default_index", facts.default_index.value_or("")},
              {"installed", json::array()},
              {"directories", facts.directories},
              {"layers", facts.layers}};
  if (facts.interpreter) {
    object["interpreter"] = to_json(*facts.interpreter);
  }
  for (const auto& distribution : facts.installed) {
    object["installed"].push_back(to_json(distribution));
  }
  return print_json(object);
}

std::optional<PythonFacts> python_facts_from_json(std::string_view text) {
  const json object = parse_json(text);
  if (!object.is_object() || object.value("format", json{}) != json(format)) {
    return std::nullopt;
  }
  try {
    const auto texts = [&](const char* key) {
      return object.at(key).get<std::vector<std::string>>();
    };
    PythonFacts facts{.obstacle = non_empty(object.at("obstacle").get<std::string>()),
                      .remarks = texts("remarks"),
                      .search_path = texts("search_path"),
                      .directories = texts("directories"),
                      .default_index = non_empty(object.at("default_index").get<std::string>()),
                      .layers = object.at("layers").get<std::size_t>()};
    for (const auto& each : object.at("installed")) {
      facts.installed.push_back(distribution_of(each));
    }
    if (object.contains("interpreter")) {
      facts.interpreter = interpreter_of(object.at("interpreter"));
    }
    const bool whole = facts.interpreter
                           ? !facts.obstacle && !facts.interpreter->version.release.empty()
                           : facts.obstacle.has_value();
    return whole ? std::optional{std::move(facts)} : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace autopack::executor
