#include "image/facts.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "image/reference.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::image {

namespace {

using Json = nlohmann::json;

/// Returns the value of a key that may be missing; sets `ok` to false if it has another type.
template <class Value>
Value value_of(const Json& object, const char* key, bool& ok) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return Value{};
  }
  try {
    return found->get<Value>();
  } catch (const Json::exception&) {
    ok = false;
    return Value{};
  }
}

/// The record's form of a text that may be absent.
std::string written(const std::optional<std::string>& text) {
  return text.value_or("");
}

}  // namespace

bool is_vertex_prebuilt(std::string_view reference) {
  static constexpr std::array hosts{"us-docker.pkg.dev", "europe-docker.pkg.dev",
                                    "asia-docker.pkg.dev"};
  static constexpr std::string_view repository = "vertex-ai/training/";
  if (Reference::fault(reference)) {
    return false;
  }
  const auto parsed = Reference::parse(reference);
  return contains(hosts, parsed.host) && parsed.path.starts_with(repository) &&
         parsed.path.find('/', repository.size()) == std::string::npos;
}

std::string to_json_line(const BaseFacts& facts) {
  Json json{{"reference", facts.reference},
            {"image_id", written(facts.image_id)},
            {"platform", facts.platform},
            {"python", written(facts.python)},
            {"pip", facts.pip},
            {"apt", facts.apt},
            {"user", facts.user},
            {"entrypoint", facts.entrypoint},
            {"cuda_version", written(facts.cuda_version)},
            {"vertex_prebuilt", facts.vertex_prebuilt}};
  if (facts.python_version) {
    json["python_version"] = *facts.python_version;
  }
  if (facts.digest) {
    json["digest"] = facts.digest->str();
  }
  return print_json(json);
}

std::optional<BaseFacts> facts_from_json(std::string_view text) {
  const auto json = parse_json(text);
  if (!json.is_object() || !json.contains("reference")) {
    return std::nullopt;
  }
  bool ok = true;
  const auto string = [&](const char* key) { return value_of<std::string>(json, key, ok); };
  BaseFacts facts{.reference = string("reference"),
                  .image_id = non_empty(string("image_id")),
                  .platform = string("platform"),
                  .python = non_empty(string("python")),
                  .python_version = non_empty(string("python_version")),
                  .pip = value_of<bool>(json, "pip", ok),
                  .apt = value_of<bool>(json, "apt", ok),
                  .user = string("user"),
                  .entrypoint = value_of<std::vector<std::string>>(json, "entrypoint", ok),
                  .environment = value_of<std::vector<std::string>>(json, "environment", ok),
                  .cuda_version = non_empty(string("cuda_version")),
                  .vertex_prebuilt = value_of<bool>(json, "vertex_prebuilt", ok)};
  if (const std::string digest = string("digest"); !digest.empty()) {
    facts.digest = Digest::parse(digest);
    ok = ok && facts.digest.has_value();
  }
  // The name becomes part of a command.
  ok = ok && (!facts.python || facts.python == "python3" || facts.python == "python");
  return ok ? std::optional{std::move(facts)} : std::nullopt;
}

}  // namespace autopack::image
