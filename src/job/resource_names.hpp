#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::job {

/// A name that fits a form, see match_name.
struct ResourceName {
  std::optional<std::string> region{};  ///< the part at `REGION`
};

/// Whether `name` fits `form`, such as `projects/NUMBER/locations/REGION/tensorboards/ID`: as many
/// parts between slashes, where a part of the form in capitals stands for any that is not empty,
/// and `NUMBER` for digits; none when it does not.
std::optional<ResourceName> match_name(std::string_view name, std::string_view form);

/// `my-project`, or with a domain: `example.com:my-project`.
bool is_project_id(std::string_view text);
/// The form of a region or zone: `us-central1`.
bool is_region_form(std::string_view text);
/// An e-mail address, or a numeric id.
bool is_service_account(std::string_view text);
/// `gs://BUCKET` with or without a path.
bool is_bucket_uri(std::string_view text);
/// Lower-case letters, digits, `_` and `-`, no digit or `-` first, at most 63.
bool is_model_id(std::string_view text);
/// RFC 3339, as the API writes and reads it.
bool is_timestamp(std::string_view text);

}  // namespace autopack::job
