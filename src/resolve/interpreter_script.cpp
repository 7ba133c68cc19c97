#include "resolve/interpreter_script.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::resolve {

namespace {

using nlohmann::json;

json markers_of(const python::Interpreter& interpreter) {
  json markers = json::object();
  for (const auto& [name, value] : python::marker_environment(interpreter).variables) {
    markers[name] = value;
  }
  return markers;
}

}  // namespace

std::string interpreter_script(const python::Interpreter& interpreter,
                               const std::string& path,
                               const std::string& directory) {
  const auto markers = markers_of(interpreter);
  const auto version = markers.value("python_version", "");
  const auto library = fmt::format("lib/python{}/site-packages", version);
  const bool is_glibc = interpreter.libc.kind == python::Libc::Kind::glibc;
  const json description{{"result", "success"},
                         {"markers", markers},
                         {"sys_base_prefix", "/usr"},
                         {"sys_base_exec_prefix", "/usr"},
                         {"sys_prefix", "/usr"},
                         {"sys_base_executable", path},
                         {"sys_executable", path},
                         {"sys_path", {directory}},
                         {"site_packages", {directory}},
                         {"stdlib", "/usr/lib/python" + version},
                         {"extension_suffixes", {".so"}},
                         {"standalone", false},
                         {"scheme",
                          {{"platlib", directory},
                           {"purelib", directory},
                           {"include", directory},
                           {"scripts", directory},
                           {"data", directory}}},
                         {"virtualenv",
                          {{"purelib", library},
                           {"platlib", library},
                           {"include", "include/site/python" + version},
                           {"scripts", "bin"},
                           {"data", ""}}},
                         {"os",
                          {{"name", is_glibc ? "manylinux" : "musllinux"},
                           {"major", interpreter.libc.major},
                           {"minor", interpreter.libc.minor}}},
                         {"arch", interpreter.machine},
                         {"cpu_info", {{"detected", {{"kind", "flags"}, {"flags", ""}}}}},
                         {"manylinux_compatible", is_glibc},
                         {"gil_disabled", contains(interpreter.abi_flags, 't')},
                         {"debug_enabled", contains(interpreter.abi_flags, 'd')},
                         {"pointer_size", "64"}};
  return fmt::format("#!/bin/sh\nprintf '%s\\n' '{}'\n",
                     replace_all(write_json(description), "'", "'\\''"));
}

}  // namespace autopack::resolve
