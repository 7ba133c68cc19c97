#pragma once

#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"
#include "packaging/sbom_file.hpp"
#include "sbom/bom.hpp"
#include "services/services.hpp"

#include <string>

namespace autopack::pipeline {

/// Returns the bill of materials of `made`, the image of `work` where its publishers put it: its
/// executor image, its layers, its packages and the project. Reads only layers whose packages are
/// not cached yet, those of the executor image from an engine that has it, if one may be used.
/// Throws Error(environment) for a layer that is damaged or beyond the limits, and as reading the
/// image does.
sbom::Bom image_sbom(Services& services,
                     const packaging::Packaging& work,
                     packaging::MadeImage& made);

/// Returns the document of `bom` in `format`.
std::string sbom_document(const sbom::Bom& bom, packaging::SbomFormat format);

/// Writes the files that the request names with `--sbom`, and attaches the documents of `--attest`;
/// does nothing if it names neither. Throws as image_sbom and attest::attach_documents do, and
/// Error(environment) if a file cannot be written.
void document_image(Services& services,
                    const packaging::Packaging& work,
                    packaging::MadeImage& made);

}  // namespace autopack::pipeline
