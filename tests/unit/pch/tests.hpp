// Precompiled, as src/pch/standard.hpp is.
#include "../../../src/pch/standard.hpp"

#include <doctest/doctest.h>
