#include "rankwright/report/page/pictures.h"

#include <fmt/format.h>

#include "rankwright/report/page/cluster_svg.h"
#include "rankwright/report/page/communication_svg.h"
#include "rankwright/report/page/memory_svg.h"
#include "rankwright/report/page/step_svg.h"
#include "rankwright/report/page/why_not_svg.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/timeline/timeline_svg.h"

namespace rankwright::report {
namespace {

struct PictureRow {
  std::string_view name;
  bool (*can_be_drawn)(const planner::PlanReport&);
  std::string (*draw)(const planner::PlanReport&);
};

constexpr PictureRow kPictures[] = {
    {"cluster", [](const planner::PlanReport&) { return true; }, draw_cluster_svg},
    {"step", [](const planner::PlanReport&) { return true; }, draw_step_svg},
    {"memory", [](const planner::PlanReport&) { return true; }, draw_memory_svg},
    {"timeline", [](const planner::PlanReport& r) { return r.step.has_value(); },
     [](const planner::PlanReport& r) {
       return draw_timeline_svg(r.step->simulated, r.step->summary, format_headline(r.config));
     }},
    {"communication", [](const planner::PlanReport&) { return true; }, draw_communication_svg},
    {"why-not", [](const planner::PlanReport& r) { return r.search.has_value(); },
     draw_why_not_svg},
};

}  // namespace

std::vector<Picture> draw_pictures(const planner::PlanReport& report) {
  std::vector<Picture> all;
  for (const PictureRow& row : kPictures)
    if (row.can_be_drawn(report)) all.push_back({row.name, row.draw(report)});
  return all;
}

std::vector<std::string_view> list_picture_names(const planner::PlanReport& report) {
  std::vector<std::string_view> all;
  for (const PictureRow& row : kPictures)
    if (row.can_be_drawn(report)) all.push_back(row.name);
  return all;
}

std::string name_picture_file(const Report& report, std::size_t plan, std::string_view name) {
  constexpr std::string_view kSides[] = {"-a", "-b"};
  return fmt::format("{}{}.svg", name, report.plans.size() > 1 ? kSides[plan] : "");
}

}  // namespace rankwright::report
