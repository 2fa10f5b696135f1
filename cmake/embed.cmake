# rankwright_embed(TARGET NAMESPACE file...): compiles data files into TARGET as
#     namespace rankwright::NAMESPACE { extern const std::string_view k<Name><Extension>; }
# so that the program needs no data folder at run time. devices.csv becomes kDevicesCsv.
function(rankwright_embed target namespace)
  foreach(file IN LISTS ARGN)
    cmake_path(GET file STEM stem)
    cmake_path(GET file EXTENSION LAST_ONLY extension)
    string(SUBSTRING ${extension} 1 -1 extension)
    string(SUBSTRING ${stem} 0 1 initial)
    string(TOUPPER ${initial} initial)
    string(SUBSTRING ${stem} 1 -1 rest)
    string(SUBSTRING ${extension} 0 1 extension_initial)
    string(TOUPPER ${extension_initial} extension_initial)
    string(SUBSTRING ${extension} 1 -1 extension_rest)
    set(symbol k${initial}${rest}${extension_initial}${extension_rest})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${stem}_${extension}.cc)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} content)
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include <string_view>
namespace rankwright::@namespace@ {
extern const std::string_view @symbol@;
const std::string_view @symbol@ = R"embedded(@content@)embedded";
}  // namespace rankwright::@namespace@
]])
    target_sources(${target} PRIVATE ${output})
  endforeach()
endfunction()

# rankwright_embed_files(TARGET NAMESPACE SYMBOL file...): compiles files with their paths in the
# repository into TARGET as
#     namespace rankwright::NAMESPACE { extern const std::span<const EmbeddedFile> SYMBOL; }
# (rankwright/base/embedded.h), for texts that are looked up by name.
function(rankwright_embed_files target namespace symbol)
  set(rows "")
  foreach(file IN LISTS ARGN)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} content)
    string(APPEND rows "    {\"${path}\", R\"embedded(${content})embedded\"},\n")
  endforeach()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include "rankwright/base/embedded.h"
namespace rankwright::@namespace@ {
extern const std::span<const EmbeddedFile> @symbol@;
namespace {
constexpr EmbeddedFile kFiles[] = {
@rows@};
}
const std::span<const EmbeddedFile> @symbol@ = kFiles;
}  // namespace rankwright::@namespace@
]])
  target_sources(${target} PRIVATE ${output})
endfunction()
