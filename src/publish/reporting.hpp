#pragma once

#include "packaging/made_image.hpp"
#include "services/services.hpp"

namespace autopack::publish {

enum class Precision { tenths, hundredths };  ///< of a second

void tell_reused(const Services& services, const packaging::Image& image);
void tell_pushed(const Services& services, const packaging::MadeImage& made, Precision precision);

}  // namespace autopack::publish
