#pragma once

#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

namespace autopack::publish {

void report_reused(const Services& services, const packaging::Image& image);
void report_pushed(const Services& services, const packaging::MadeImage& made);

/// From now on, reads `made` from the registry of `work`, which has it.
void read_from_registry(Services& services,
                        const packaging::Packaging& work,
                        packaging::MadeImage& made);

}  // namespace autopack::publish
