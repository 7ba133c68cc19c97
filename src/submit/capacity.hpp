#pragma once

#include "base/error.hpp"
#include "google/api_error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace autopack::submit {

/// Returns the service's message if an ended job failed because its region had no machines or no
/// quota for it. Returns nothing for every other end, above all a failure of the program.
std::optional<std::string> lack_of_capacity(const nlohmann::json& job);

/// Returns true if a create was refused because of the region: no quota, no machines, or an
/// accelerator that it does not offer.
bool lacks_capacity(const google::ApiError& refusal);

/// The service refused a job because of its region; another region may accept it.
class RegionRefused : public Error {
public:
  explicit RegionRefused(Error error) : Error{std::move(error)} {}
};

}  // namespace autopack::submit
