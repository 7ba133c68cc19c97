#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::job {

/// The parts of a name that match_name extracts.
struct ResourceName {
  std::optional<std::string> region{};  ///< the part at `REGION`
};

/// Matches `name` against `form`, such as `projects/NUMBER/locations/REGION/tensorboards/ID`. The
/// number of parts between slashes must be equal; a part of the form in capitals matches any
/// non-empty part, and `NUMBER` matches digits. Returns nothing if it does not match.
std::optional<ResourceName> match_name(std::string_view name, std::string_view form);

/// Matches `my-project`, or with a domain: `example.com:my-project`.
bool is_project_id(std::string_view text);
/// Matches the form of a region or zone: `us-central1`.
bool is_region_form(std::string_view text);
/// Matches an e-mail address or a numeric id.
bool is_service_account(std::string_view text);
/// Matches `gs://BUCKET` with or without a path.
bool is_bucket_uri(std::string_view text);
/// Matches lower-case letters, digits, `_` and `-`, at most 63, not starting with a digit or `-`.
bool is_model_id(std::string_view text);
/// Matches RFC 3339, the API's form.
bool is_timestamp(std::string_view text);

}  // namespace autopack::job
