#include "cli/plan/plan_flags.h"

#include "cli/plan_input.h"
#include "rankwright/planner/plan/plan_options.h"
#include "rankwright/planner/plan/source_files.h"

namespace rankwright::cli {

void SearchFlags::add_to(Options& options) {
  options.add("file", file_,
              "plan file or -: sets model, cluster, job and software; its layout is compared");
  for (const planner::PlanOption& row : planner::plan_options()) {
    const std::string flag = "--" + row.name;
    Option added = row.takes_value ? options.add(flag, texts_[row.name], row.help)
                                   : options.add_switch(flag, switches_[row.name], row.help);
    if (!row.group.empty()) added.group(row.group);
    if (!row.type.empty()) added.type_name(row.type);
  }
  options.add_switch("--markdown", markdown_, "write Markdown").group("Search");
}

planner::Outcome<planner::PlanRequest> SearchFlags::read() const {
  planner::OptionTexts all = texts_;
  for (const auto& [name, set] : switches_)
    if (set) all[name] = "true";
  return planner::read_plan_options(all);
}

void SearchFlags::read_files(planner::PlanRequest& request, const Io& io) const {
  request.files = importer::read_file;
  if (!file_.empty()) request.plan_file = read_source(file_, io);
  read_named_files(request, [&](const std::string& name) { return read_argument(name, io); });
}

}  // namespace rankwright::cli
