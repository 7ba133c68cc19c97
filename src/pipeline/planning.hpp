#pragma once

#include "image/facts.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <memory>

namespace autopack::pipeline {

using WantedPtr = std::shared_ptr<const packaging::Wanted>;

/// A step that is shown while the files of a project are read, with their number and size so far.
/// It leaves no line behind.
class ReadingStep {
public:
  ReadingStep(Reporter& reporter, const packaging::Request& request);
  ~ReadingStep();
  ReadingStep(const ReadingStep&) = delete;
  ReadingStep& operator=(const ReadingStep&) = delete;
  ReadingStep(ReadingStep&&) = delete;
  ReadingStep& operator=(ReadingStep&&) = delete;

private:
  Reporter& reporter_;
  std::shared_ptr<source::ReadCount> count_;
};

/// Decides everything about the requested image, on an executor image. Sends no request and reports
/// nothing. An error about the project includes the secrets in the files.
packaging::Packaging plan_packaging(Services& services,
                                    const WantedPtr& wanted,
                                    const image::BaseFacts& executor);

/// Returns the choice with its reason and its flag.
std::string to_text(const project::Inferred& inferred);

/// Reports each inferred choice.
void report_inferred(Reporter& reporter, const std::vector<project::Inferred>& inferred);

/// The same in one line if the project of `wanted` was built before; the reasons are then details.
void report_choices(Services& services,
                    const packaging::Wanted* wanted,
                    const std::vector<project::Inferred>& inferred);

/// Reports the files that go into the image.
void report_scanned(Reporter& reporter, const packaging::Packaging& work);

}  // namespace autopack::pipeline
