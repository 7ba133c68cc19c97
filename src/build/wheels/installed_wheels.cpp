#include "build/wheels/installed_wheels.hpp"

#include "base/json.hpp"
#include "base/url.hpp"
#include "build/wheels/kept_resolution.hpp"
#include "build/wheels/own_package.hpp"
#include "executor/python_facts.hpp"
#include "python/wheel_name.hpp"

#include <algorithm>
#include <utility>

namespace autopack::build {

namespace {

using nlohmann::json;

json as_json(const InstalledWheel& wheel) {
  return {{"name", wheel.name},           {"version", wheel.version}, {"file", wheel.file},
          {"digest", wheel.digest.str()}, {"size", wheel.size},       {"url", wheel.url},
          {"index", wheel.index},         {"direct", wheel.is_direct}};
}

std::optional<InstalledWheel> installed_wheel_of(const json& one) {
  const auto text = [&](const char* key) {
    const auto found = one.is_object() ? one.find(key) : one.end();
    return found != one.end() && found->is_string() ? found->get<std::string>() : std::string{};
  };
  const auto digest = Digest::parse(text("digest"));
  if (!digest || text("name").empty() || !one.contains("size") ||
      !one["size"].is_number_unsigned()) {
    return std::nullopt;
  }
  return InstalledWheel{.name = text("name"),
                        .version = text("version"),
                        .file = text("file"),
                        .digest = *digest,
                        .size = one["size"].get<std::uint64_t>(),
                        .url = text("url"),
                        .is_direct = one.value("direct", json{}) == json(true),
                        .index = text("index")};
}

}  // namespace

std::vector<InstalledWheel> installed_wheels(const std::vector<wheel::ChosenWheel>& wheels,
                                             const lock::LockedSet& set,
                                             const std::map<Digest, index::Download>& files) {
  std::vector<InstalledWheel> all;
  for (const auto& wheel : wheels) {
    InstalledWheel one{
        .name = wheel.name, .file = wheel.file_name, .digest = wheel.digest, .size = wheel.size};
    if (const auto name = python::WheelName::parse(wheel.file_name)) {
      one.version = name->version.str();
    }
    if (const auto from = files.find(wheel.digest); from != files.end()) {
      const auto url = Url::parse(from->second.url);
      if (url && url->scheme != "file") {
        one.url = redact_url(from->second.url);
      }
    }
    const auto package = std::ranges::find(set.packages, wheel.name, &lock::LockedPackage::name);
    if (package != set.packages.end()) {
      one.is_direct = package->is_direct;
      one.index = redact_url(package->index.value_or(""));
    }
    all.push_back(std::move(one));
  }
  std::ranges::sort(all, {}, &InstalledWheel::name);
  return all;
}

std::string to_json(const std::vector<InstalledWheel>& wheels) {
  json all = json::array();
  for (const auto& wheel : wheels) {
    all.push_back(as_json(wheel));
  }
  return write_json(all);
}

std::optional<std::vector<InstalledWheel>> installed_wheels_from_json(std::string_view text) {
  const json read = parse_json(text);
  if (!read.is_array()) {
    return std::nullopt;
  }
  std::vector<InstalledWheel> wheels;
  for (const auto& one : read) {
    auto wheel = installed_wheel_of(one);
    if (!wheel) {
      return std::nullopt;
    }
    wheels.push_back(*std::move(wheel));
  }
  return wheels;
}

std::string installed_wheels_key(const std::string& dependency_key) {
  return "installed-" + dependency_key;
}

void record_installed_wheels(const Services& services,
                             const std::string& dependency_key,
                             const std::vector<InstalledWheel>& wheels) {
  services.wheel_records.put(installed_wheels_key(dependency_key), to_json(wheels));
}

std::optional<std::vector<InstalledWheel>> find_installed_wheels(Services& services,
                                                                 const packaging::Packaging& work) {
  const auto key = installed_wheels_key(work.plan().keys.value().dependencies);
  if (const auto text = services.wheel_records.get(key)) {
    if (auto wheels = installed_wheels_from_json(*text)) {
      return wheels;
    }
  }
  if (!services.repository_facts) {
    return std::nullopt;
  }
  const auto texts = services.repository_facts->texts({key});
  return texts.empty() ? std::nullopt : installed_wheels_from_json(texts.begin()->second);
}

std::optional<std::string> find_resolution(Services& services, const packaging::Packaging& work) {
  const auto facts = executor::known_python(services, work.plan().base);
  if (!facts || !facts->interpreter) {
    return std::nullopt;
  }
  const auto own = reason_to_build_own_package(work) ? find_own_package(services, work, *facts, {})
                                                     : FoundOwnPackage{};
  KeptResolution kept{services, work, *facts, own};
  if (services.repository_facts) {
    kept.take_remembered(*services.repository_facts, *facts->interpreter);
  }
  auto text = kept.text();
  return text && !kept.as_remembered(*text).empty() ? text : std::nullopt;
}

}  // namespace autopack::build
