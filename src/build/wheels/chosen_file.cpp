#include "build/wheels/chosen_file.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace autopack::build {

using nlohmann::json;

std::optional<Digest> only_digest(const std::vector<python::Hash>& hashes) {
  const auto is_sha256 = [](const auto& hash) { return hash.algorithm == "sha256"; };
  const auto found = std::ranges::find_if(hashes, is_sha256);
  return std::ranges::count_if(hashes, is_sha256) == 1 ? Digest::parse("sha256:" + found->hex)
                                                       : std::nullopt;
}

index::Download ChosenFile::download() const {
  return {.name = name, .url = url, .hashes = {{"sha256", digest.hex()}}, .size = size};
}

std::string ChosenFile::text() const {
  return write_json(json{{"file", name}, {"digest", digest.str()}, {"size", size}, {"url", url}});
}

std::optional<ChosenFile> ChosenFile::read(std::string_view text) {
  const json record = parse_json(text);
  if (!record.is_object()) {
    return std::nullopt;
  }
  try {
    const auto digest = Digest::parse(record.at("digest").get<std::string>());
    return digest ? std::optional{ChosenFile{.name = record.at("file").get<std::string>(),
                                             .url = record.at("url").get<std::string>(),
                                             .digest = *digest,
                                             .size = record.at("size").get<std::uint64_t>()}}
                  : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<ChosenFile> ChosenFile::of(const index::Download& file) {
  const auto digest = only_digest(file.hashes);
  return digest && file.size
             ? std::optional{ChosenFile{
                   .name = file.name, .url = file.url, .digest = *digest, .size = *file.size}}
             : std::nullopt;
}

std::vector<lock::Candidate> to_candidates(const std::vector<index::Candidate>& offered) {
  std::vector<lock::Candidate> candidates;
  for (const auto& file : offered) {
    auto hashes = file.hashes;
    std::erase_if(hashes, [](const auto& hash) { return !hash.is_strong(); });
    candidates.push_back({.name = file.name,
                          .hashes = std::move(hashes),
                          .requires_python = file.requires_python,
                          .yanked = file.yanked.has_value()});
  }
  return candidates;
}

index::Download download_of(const lock::LockedPackage& package, const index::Candidate& file) {
  index::Download download{.name = file.name, .url = file.url, .size = file.size};
  const auto& bound = package.hashes;
  std::ranges::copy_if(file.hashes, std::back_inserter(download.hashes),
                       [&](const auto& hash) { return bound.empty() || contains(bound, hash); });
  if (download.hashes.empty()) {
    download.hashes = bound;
  }
  return download;
}

index::Download download_of(const lock::LockedFile& file) {
  return {
      .name = file.name, .url = file.url.value_or(""), .hashes = file.hashes, .size = file.size};
}

}  // namespace autopack::build
