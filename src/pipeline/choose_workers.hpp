#pragma once

#include "packaging/builder.hpp"
#include "packaging/publisher.hpp"
#include "services/services.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

class LookAhead;

/// Who makes an image, and who brings it where it goes.
struct Workers {
  std::unique_ptr<packaging::Builder> builder{};
  std::vector<std::unique_ptr<packaging::Publisher>> publishers{};
};

/// The quickest builder that can make the image, and its publishers in the order of their work.
/// Throws Error(usage) with the obstacle when the user wants the direct engine and it cannot.
Workers choose_workers(Services& services, const packaging::Packaging& work, LookAhead& ahead);

/// Why the direct engine does not make the image of `work`; none when it does.
std::optional<std::string> obstacle_to_direct(const packaging::Packaging& work);

/// Throws Error(usage) when the direct engine is wanted for an image that would stay in the docker
/// engine: nothing need be asked to know that it cannot be.
void refuse_direct_in_engine(const packaging::Wanted& wanted);

}  // namespace autopack::pipeline
