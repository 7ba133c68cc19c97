#include "cli/trust_records.hpp"

#include "base/file.hpp"
#include "base/json.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace autopack::cli {

namespace {

namespace fs = std::filesystem;

constexpr auto* directories_key = "directories";

/// Returns false for a file that another user could have written.
bool is_own(const fs::path& file) {
  struct stat status = {};

  return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

fs::path trust_file(const Environment& environment) {
  const auto state = environment.get("XDG_STATE_HOME");
  return (state ? fs::path{*state} : environment.home() / ".local" / "state") / "autopack" /
         "trusted.json";
}

TrustRecords read_trust(const Environment& environment) {
  const auto file = trust_file(environment);
  TrustRecords records;
  if (!is_own(file)) {
    return records;
  }
  const auto text = read_file_if_exists(file);
  const auto document = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!document.is_object() || !document.contains(directories_key) ||
      !document.at(directories_key).is_object()) {
    return records;
  }
  for (const auto& [directory, fingerprints] : document.at(directories_key).items()) {
    for (const auto& fingerprint : fingerprints) {
      if (fingerprint.is_string()) {
        records[directory].insert(fingerprint.get<std::string>());
      }
    }
  }
  return records;
}

void write_trust(const TrustRecords& records, const Environment& environment) {
  nlohmann::json document{{directories_key, nlohmann::json::object()}};
  for (const auto& [directory, fingerprints] : records) {
    document[directories_key][directory] = fingerprints;
  }
  write_file(trust_file(environment), print_json(document, 2) + "\n", FileMode::secret);
}

std::string trusted_directory() {
  std::error_code failure;
  const auto here = fs::current_path(failure);
  return fs::weakly_canonical(here, failure).string();
}

}  // namespace autopack::cli
