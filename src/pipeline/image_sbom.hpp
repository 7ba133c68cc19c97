#pragma once

#include "attest/documents.hpp"
#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"
#include "packaging/sbom_file.hpp"
#include "sbom/bom.hpp"
#include "services/services.hpp"

#include <string>
#include <vector>

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

/// Returns the documents of `bom` in all formats, to be attached to the image.
std::vector<attest::Document> sbom_attachments(const sbom::Bom& bom);

/// Writes the documents of `bom` to `files`. Throws Error(environment) if a file cannot be written.
void write_sboms(const Services& services,
                 const std::vector<packaging::SbomFile>& files,
                 const sbom::Bom& bom);

}  // namespace autopack::pipeline
