#include "state/records.hpp"

#include "base/digest.hpp"

#include <string_view>
#include <utility>

namespace autopack::state {

namespace {

/// The first line of a file. It binds the record to its name, so that damage is detected.
std::string record_seal(const std::string& name, std::string_view record) {
  Sha256 hash;
  hash.update(std::to_string(name.size()) + " " + name);
  hash.update(record);
  return hash.finish().hex() + "\n";
}

}  // namespace

std::optional<std::string> Records::get(const std::string& name) const {
  auto text = store_.get(sha256(name).hex());
  const auto end = text ? text->find('\n') : std::string::npos;
  if (end == std::string::npos) {
    return std::nullopt;
  }
  auto record = text->substr(end + 1);
  return text->substr(0, end + 1) == record_seal(name, record) ? std::optional{std::move(record)}
                                                               : std::nullopt;
}

void Records::put(const std::string& name, const std::string& record) const {
  if (get(name) != record) {
    store_.put(sha256(name).hex(), record_seal(name, record) + record);
  }
}

}  // namespace autopack::state
