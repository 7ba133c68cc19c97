#include "state/store.hpp"

#include "base/json.hpp"
#include "state/cache_files.hpp"

#include <system_error>

// A cache must never be the reason for a wrong image or a failed run. So a file that is damaged,
// of another version or of another owner is absent, a failure to write is ignored, and each store
// has a limit.

namespace autopack::state {

namespace {

constexpr auto* version_key = "format";

}  // namespace

std::optional<std::string> Store::get(const std::filesystem::path& name) const {
  return read_quietly(directory_ / name);
}

void Store::put(const std::filesystem::path& name, std::string_view text) const {
  write_quietly(directory_ / name, text, limit_);
}

void Store::with_document(const std::filesystem::path& name,
                          const std::function<void(const nlohmann::json&)>& use) const {
  const auto document = parse_json(get(name).value_or(""));
  if (!document.is_object() ||
      (version_ && document.value(version_key, nlohmann::json{}) != *version_)) {
    return;
  }
  try {
    use(document);
  } catch (const std::exception&) {
    return;  // damaged
  }
}

void Store::put_document(const std::filesystem::path& name, nlohmann::json document) const {
  if (version_) {
    document[version_key] = *version_;
  }
  put(name, print_json(document));
}

void Store::clear() const {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace autopack::state
