#pragma once

#include "packaging/builder.hpp"
#include "packaging/made_image.hpp"
#include "packaging/publisher.hpp"
#include "services/services.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

class LookAhead;

/// The builder and publishers of an image.
struct BuilderAndPublishers {
  std::unique_ptr<packaging::Builder> builder{};
  std::vector<std::unique_ptr<packaging::Publisher>> publishers{};
};

/// Returns the fastest builder that can make the image, and its publishers in order. Throws
/// Error(usage) with the obstacle if the user requires the direct engine and it cannot.
BuilderAndPublishers choose_builder(Services& services,
                                    const packaging::Packaging& work,
                                    LookAhead& ahead);

/// Returns the image below the code of `work`, from a registry, from files or made of wheels;
/// nothing if only an engine can make it, and then sets `obstacle`. `work` must outlive it.
std::optional<packaging::ParentImage> find_image_below(Services& services,
                                                       const packaging::Packaging& work,
                                                       std::string& obstacle);

/// Returns why the direct engine does not make the image of `work`, or nothing if it does.
std::optional<std::string> obstacle_to_direct(const packaging::Packaging& work);

/// Returns why an engine, or Cloud Build, has to make a part of the image of `work`; nothing if
/// none has to, as far as that is known without a request.
std::optional<std::string> need_of_engine(Services& services, const packaging::Packaging& work);

/// Throws Error(usage) if the direct engine is required for an image that would stay in the docker
/// engine, before any request.
void refuse_direct_in_engine(const packaging::Wanted& wanted);

}  // namespace autopack::pipeline
