#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace autopack::state {

/// A cache: texts by name, in a directory of files that only their owner can read. A file that is
/// damaged, of another version, or that another user could have written counts as absent. Ignores
/// failures to write: without a cache, runs are only slower.
class Store {
public:
  /// Above `limit` bytes or 50,000 files, the oldest files of the directory are removed from time
  /// to time. Increase `version` if documents of an older autopack would be misinterpreted;
  /// documents of a store without a version have none.
  Store(std::filesystem::path directory, std::uint64_t limit, std::optional<int> version = {})
      : directory_{std::move(directory)}, limit_{limit}, version_{version} {}

  std::optional<std::string> get(const std::filesystem::path& name) const;
  void put(const std::filesystem::path& name, std::string_view text) const;

  /// Returns what `decode` makes of the text. The text is damaged if `decode` returns nothing or
  /// throws.
  template <class Decode>
  std::invoke_result_t<Decode, std::string> get(const std::filesystem::path& name,
                                                const Decode& decode) const {
    auto text = get(name);
    try {
      return text ? decode(std::move(*text)) : std::nullopt;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  /// The same for a JSON object.
  template <class Decode>
  std::invoke_result_t<Decode, const nlohmann::json&> document(const std::filesystem::path& name,
                                                               const Decode& decode) const {
    std::invoke_result_t<Decode, const nlohmann::json&> result;
    with_document(name, [&](const nlohmann::json& document) { result = decode(document); });
    return result;
  }

  void put_document(const std::filesystem::path& name, nlohmann::json document) const;
  /// Removes all files.
  void clear() const;

  const std::filesystem::path& directory() const { return directory_; }

private:
  void with_document(const std::filesystem::path& name,
                     const std::function<void(const nlohmann::json&)>& use) const;

  std::filesystem::path directory_;
  std::uint64_t limit_;
  std::optional<int> version_;
};

}  // namespace autopack::state
