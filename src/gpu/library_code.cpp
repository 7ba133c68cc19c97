#include "gpu/library_code.hpp"

#include "base/json.hpp"

namespace autopack::gpu {

namespace {

using nlohmann::json;

/// Increase this if older versions would misread the text.
constexpr int version{1};

json json_of(const LibraryCode& library) {
  json codes = json::array();
  for (const auto& [kind, architecture, count, bytes] : library.code) {
    codes.push_back({kind == CodeKind::ptx ? "ptx" : "cubin", architecture.str(), count, bytes});
  }
  return codes;
}

std::optional<Code> code_from(const json& row) {
  const auto kind = row.at(0).get<std::string>();
  const auto architecture = Architecture::parse(row.at(1).get<std::string>());
  if (!architecture || (kind != "ptx" && kind != "cubin")) {
    return std::nullopt;
  }
  return Code{.kind = kind == "ptx" ? CodeKind::ptx : CodeKind::cubin,
              .architecture = *architecture,
              .count = row.at(2).get<std::uint64_t>(),
              .bytes = row.at(3).get<std::uint64_t>()};
}

}  // namespace

std::string to_json(const std::vector<Library>& libraries) {
  json all = json::array();
  for (const auto& library : libraries) {
    json one{{"path", library.path}, {"size", library.size}, {"code", json_of(library.code)}};
    if (library.code.cuda) {
      one["cuda"] = *library.code.cuda;
    }
    if (library.code.is_damaged) {
      one["damaged"] = true;
    }
    all.push_back(std::move(one));
  }
  return write_json(json{{"version", version}, {"libraries", std::move(all)}});
}

std::optional<std::vector<Library>> libraries_from_json(std::string_view text) {
  const json read = parse_json(text);
  try {
    if (!read.is_object() || read.at("version") != version) {
      return std::nullopt;
    }
    std::vector<Library> libraries;
    for (const auto& one : read.at("libraries")) {
      auto& library = libraries.emplace_back();
      library.path = one.at("path").get<std::string>();
      library.size = one.at("size").get<std::uint64_t>();
      library.code.is_damaged = one.value("damaged", false);
      if (one.contains("cuda")) {
        library.code.cuda = one.at("cuda").get<unsigned>();
      }
      for (const auto& row : one.at("code")) {
        const auto code = code_from(row);
        if (!code) {
          return std::nullopt;
        }
        library.code.code.push_back(*code);
      }
    }
    return libraries;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace autopack::gpu
